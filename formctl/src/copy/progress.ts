import type { Command } from 'commander'
import { terminalOf } from '../terminal.ts'
import { TimeLeft } from './time-left.ts'

/** How far a piece of work has come, on stderr. */
export interface Progress extends Disposable {
  /** One more is done. */
  step(): void
}

/** Fewer are done before anybody would read a line about them. */
const fewestForLines = 100

/** A bar where a person looks on; a line every tenth of the way in a log; nothing with `--json`. */
export const startProgress = async (command: Command, title: string, total: number): Promise<Progress> => {
  if (command.optsWithGlobals<{ json?: boolean }>().json) return silence
  return process.stderr.isTTY ? bar(title, total) : lines(command, title, total)
}

const silence: Progress = { step: () => {}, [Symbol.dispose]: () => {} }

const bar = async (title: string, total: number): Promise<Progress> => {
  const { default: cliProgress } = await import('cli-progress')
  const { shades_classic: looks } = cliProgress.Presets
  const format = `${title} {bar} {value} of {total}, {left}`
  // Whoever interrupts the work ends the bar, too; and a kill leaves the terminal as it was.
  const drawn = new cliProgress.SingleBar({ format, barsize: 30, linewrap: true, gracefulExit: false }, looks)
  const timeLeft = new TimeLeft(total, performance.now())
  let done = 0
  drawn.start(total, 0, { left: timeLeft.after(0, performance.now()) })
  const step = () => {
    done++
    drawn.increment({ left: timeLeft.after(done, performance.now()) })
  }
  return { step, [Symbol.dispose]: () => drawn.stop() }
}

const lines = (command: Command, title: string, total: number): Progress => {
  if (total < fewestForLines) return silence
  const terminal = terminalOf(command)
  const tenth = Math.ceil(total / 10)
  let done = 0
  const step = () => {
    done++
    if (done % tenth === 0 || done === total) terminal.complain(`${title}: ${done} of ${total}\n`)
  }
  return { step, [Symbol.dispose]: () => {} }
}
