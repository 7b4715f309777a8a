/** How long a window lasts. */
export const windowMs = 60_000

/** Who has the most entries forgets the oldest: 50,000 of them take some 10 MB. */
const defaultMaxNames = 50_000

/** What was counted under a name in its current minute. */
export interface Window {
  count: number
  /** Of the count, what the other gateways do not know of. */
  untold: number
  endsAt: number
}

/**
 * Counts by name, in windows of a minute that begin with the first count, on a clock of its own: names do not all
 * begin anew at the same second, and other machines' clocks play no part.
 */
export class FixedWindowCounter {
  /** In the order in which they began, which is about that in which they end. */
  readonly #windows = new Map<string, Window>()
  readonly #now: () => number
  readonly #maxNames: number

  /**
   * @param now milliseconds of a clock that is never put forward or back.
   * @param maxNames so many are remembered; with more, the oldest window is forgotten.
   */
  constructor(now: () => number, maxNames = defaultMaxNames) {
    this.#now = now
    this.#maxNames = maxNames
  }

  /** How many names are remembered, windows that are over among them. */
  get size(): number {
    return this.#windows.size
  }

  /** The name's window, if it has one that is not over. */
  find(name: string): Window | undefined {
    const window = this.#windows.get(name)
    return window && window.endsAt > this.#now() ? window : undefined
  }

  /** The name's window; one begins here if there is none. @param lastsMs of one that begins here. */
  of(name: string, lastsMs = windowMs): Window {
    return this.find(name) ?? this.#begin(name, lastsMs)
  }

  /** How long a window goes on, in milliseconds. */
  msLeft({ endsAt }: Window): number {
    return Math.max(0, endsAt - this.#now())
  }

  #begin(name: string, lastsMs: number): Window {
    this.#windows.delete(name)
    this.#forget()
    const window = { count: 0, untold: 0, endsAt: this.#now() + lastsMs }
    this.#windows.set(name, window)
    return window
  }

  #forget() {
    const now = this.#now()
    for (const [name, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size < this.#maxNames) return
      this.#windows.delete(name)
    }
  }
}
