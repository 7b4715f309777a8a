/** Work of this age counts 1/e in the rate, in milliseconds: a burst or a pause of seconds hardly moves it. */
const memoryMs = 30_000
const renewEveryMs = 1_000
/** Less work than this says nothing about the rate. */
const fewestMs = 3_000

/** Estimates how long work still takes, from the exponentially weighted rate of its steps. Renewed once a second. */
export class TimeLeft {
  readonly #total: number
  readonly #beginMs: number
  #latest: { ms: number; done: number }
  /** Steps and milliseconds, each weighted by age. */
  #steps = 0
  #spentMs = 0
  #text = 'estimating the time'

  constructor(total: number, nowMs: number) {
    this.#total = total
    this.#beginMs = nowMs
    this.#latest = { ms: nowMs, done: 0 }
  }

  /** @param done steps so far. @returns such as `4 min left`. */
  after(done: number, nowMs: number): string {
    const spentMs = nowMs - this.#latest.ms
    if (spentMs < renewEveryMs) return this.#text
    const weight = Math.exp(-spentMs / memoryMs)
    this.#steps = this.#steps * weight + (done - this.#latest.done)
    this.#spentMs = this.#spentMs * weight + spentMs
    this.#latest = { ms: nowMs, done }
    if (nowMs - this.#beginMs >= fewestMs && this.#steps > 0) {
      this.#text = `${spanOf(((this.#total - done) * this.#spentMs) / this.#steps)} left`
    }
    return this.#text
  }
}

/** Coarse, since an estimate is no better: 5 s, a minute, then 10 minutes. */
const spanOf = (ms: number): string => {
  const minutes = ms / 60_000
  if (minutes < 1.5) return `${Math.ceil(ms / 5_000) * 5} s`
  if (minutes < 90) return `${Math.round(minutes)} min`
  const tens = Math.round(minutes / 10) * 10
  return `${Math.floor(tens / 60)} h ${tens % 60} min`
}
