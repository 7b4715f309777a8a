export interface SemaphoreOptions {
  /** Units that may be held at once. */
  max: number
  /** Further ones that may wait. */
  maxWaiting: number
  /** How long one may wait, in milliseconds. */
  maxWaitMs: number
}

interface Waiting {
  units: number
  admit: () => void
}

/** Units that are held at once, and a bounded queue, first in first out, for more of them. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting = new Set<Waiting>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** Units that are held. */
  get held(): number {
    return this.#held
  }

  /**
   * Waits for its turn.
   *
   * @param units at most `max`.
   * @returns false, and nothing is held, where the queue is full or the wait was too long.
   */
  async acquire(units = 1): Promise<boolean> {
    if (this.#waiting.size === 0 && this.#hasRoomFor(units)) {
      this.#held += units
      return true
    }
    if (this.#waiting.size >= this.#options.maxWaiting) return false
    return this.#wait(units)
  }

  release(units = 1): void {
    this.#held -= units
    this.#admit()
  }

  #wait(units: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        units,
        admit: () => {
          clearTimeout(timer)
          resolve(true)
        },
      }
      const giveUp = () => {
        this.#waiting.delete(waiting)
        resolve(false)
        this.#admit()
      }
      const timer = setTimeout(giveUp, this.#options.maxWaitMs)
      this.#waiting.add(waiting)
    })
  }

  #admit(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoomFor(waiting.units)) return
      this.#waiting.delete(waiting)
      this.#held += waiting.units
      waiting.admit()
    }
  }

  #hasRoomFor(units: number): boolean {
    return this.#held + units <= this.#options.max
  }
}
