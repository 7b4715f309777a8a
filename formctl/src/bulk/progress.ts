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
  const tenth = Math.ceil(total / 10)
  let done = 0
  const step = () => {
    done++
    if (done % tenth === 0 || done === total) command.terminal.printError(`${title}: ${done} of ${total}\n`)
  }
  return { step, [Symbol.dispose]: () => {} }
}

/** Time constant of the average, in milliseconds: a burst or a pause of seconds hardly changes the rate. */
const timeConstantMs = 30_000
const updateIntervalMs = 1_000
/** An estimate needs at least this much work. */
const minElapsedMs = 3_000

/** Estimates the remaining time from the exponentially weighted rate of steps. Updates once a second. */
export class TimeLeft {
  readonly #total: number
  readonly #beginMs: number
  #latest: { ms: number; done: number }
  /** Steps, and milliseconds spent on them, both weighted by age. */
  #steps = 0
  #spentMs = 0
  #text = 'estimating the time'

  constructor(total: number, nowMs: number) {
    this.#total = total
    this.#beginMs = nowMs
    this.#latest = { ms: nowMs, done: 0 }
  }

  /** @param done steps so far. @returns text such as `4 min left`. */
  after(done: number, nowMs: number): string {
    const spentMs = nowMs - this.#latest.ms
    if (spentMs < updateIntervalMs) return this.#text
    const weight = Math.exp(-spentMs / timeConstantMs)
    this.#steps = this.#steps * weight + (done - this.#latest.done)
    this.#spentMs = this.#spentMs * weight + spentMs
    this.#latest = { ms: nowMs, done }
    if (nowMs - this.#beginMs >= minElapsedMs && this.#steps > 0) {
      this.#text = `${spanOf(((this.#total - done) * this.#spentMs) / this.#steps)} left`
    }
    return this.#text
  }
}

/** Rounded to the precision of the estimate: 5 s, 1 minute, or 10 minutes. */
const spanOf = (ms: number): string => {
  const minutes = ms / 60_000
  if (minutes < 1.5) return `${Math.ceil(ms / 5_000) * 5} s`
  if (minutes < 90) return `${Math.round(minutes)} min`
  const tens = Math.round(minutes / 10) * 10
  return `${Math.floor(tens / 60)} h ${tens % 60} min`
}
