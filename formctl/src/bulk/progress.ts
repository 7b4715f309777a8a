import type { Command } from 'commander'
import { terminalOf } from '../cli/terminal.ts'
import { TimeLeft } from './time-left.ts'

/** Shows the progress of a command on stderr. */
export interface Progress extends Disposable {
  /** Counts one more item as done. */
  step(): void
}

/** Shorter work ends before its progress would be read. */
const minTotalForLines = 100

/** A bar on a terminal; in a log, a line after each tenth of at least 100 items; nothing with `--json`. */
export const startProgress = async (command: Command, title: string, total: number): Promise<Progress> => {
  if (command.optsWithGlobals<{ json?: boolean }>().json) return noProgress
  return process.stderr.isTTY ? bar(title, total) : lines(command, title, total)
}

const noProgress: Progress = { step: () => {}, [Symbol.dispose]: () => {} }

const bar = async (title: string, total: number): Promise<Progress> => {
  const { default: cliProgress } = await import('cli-progress')
  const { shades_classic: characters } = cliProgress.Presets
  const format = `${title} {bar} {value} of {total}, {left}`
  // The bar handles no signals and changes no terminal settings: Interruption handles signals, and a kill leaves the
  // terminal usable.
  const drawn = new cliProgress.SingleBar(
    { format, barsize: 30, linewrap: true, gracefulExit: false },
    characters,
  )
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
  if (total < minTotalForLines) return noProgress
  const terminal = terminalOf(command)
  const tenth = Math.ceil(total / 10)
  let done = 0
  const step = () => {
    done++
    if (done % tenth === 0 || done === total) terminal.printError(`${title}: ${done} of ${total}\n`)
  }
  return { step, [Symbol.dispose]: () => {} }
}
