import type { Command } from '../cli/command.ts'

interface Progress extends Disposable {
  step(): void
}

/** Shorter work ends before its progress would be read. */
const minTotalForLines = 100

/** A bar on a terminal; in a log, a line after each tenth of at least 100 items; nothing with `--json`. */
export const startProgress = async (command: Command, title: string, total: number): Promise<Progress> => {
  if (command.wantsJson) return noProgress
  return process.stderr.isTTY ? bar(title, total) : lines(command, title, total)
}

const noProgress: Progress = { step: () => {}, [Symbol.dispose]: () => {} }

/** Steps from whose duration the time left follows. */
const etaBuffer = 1_000

const bar = async (title: string, total: number): Promise<Progress> => {
  const { default: cliProgress } = await import('cli-progress')
  const { shades_classic: characters } = cliProgress.Presets
  const startedAt = performance.now()
  const format = `${title} {bar} {value} of {total}, {eta_formatted}`
  // The bar handles no signals and changes no terminal settings: Interruption handles signals, and a kill leaves the
  // terminal usable.
  const drawn = new cliProgress.SingleBar(
    {
      format,
      barsize: 30,
      linewrap: true,
      gracefulExit: false,
      etaBuffer,
      formatTime: (seconds) => timeLeft(seconds, performance.now() - startedAt),
    },
    characters,
  )
  drawn.start(total, 0)
  return { step: () => drawn.increment(), [Symbol.dispose]: () => drawn.stop() }
}

/** An estimate needs at least this much work. */
const minElapsedMs = 3_000

/** @param seconds of cli-progress: a text while it cannot tell. */
export const timeLeft = (seconds: number | string, elapsedMs: number): string => {
  if (typeof seconds === 'string' || elapsedMs < minElapsedMs) return 'estimating the time'
  if (seconds < 90) return `${Math.ceil(seconds / 5) * 5} s left`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h ${minutes % 60} min left`
}

const lines = (command: Command, title: string, total: number): Progress => {
  if (total < minTotalForLines) return noProgress
  const tenth = Math.ceil(total / 10)
  let done = 0
  const step = () => {
    done++
    if (done % tenth === 0 || done === total) command.terminal.printError(`${title}: ${done} of ${total}\n`)
  }
  return { step, [Symbol.dispose]: () => {} }
}
