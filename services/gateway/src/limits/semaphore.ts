export interface SemaphoreOptions {
  /** Units that may be held concurrently. */
  max: number
  /** Calls of `acquire` that may wait. */
  maxWaiting: number
  /** How long a call may wait, in milliseconds. */
  maxWaitMs: number
}

interface Waiter {
  units: number
  admit: () => void
}

/** A counting semaphore with a bounded queue, first in first out, and a timeout. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting = new Set<Waiter>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** Units that are held. */
  get held(): number {
    return this.#held
  }

  /**
   * Acquires units, after those that wait already.
   *
   * @param units at most `max`.
   * @returns false when the queue is full or after `maxWaitMs`; then nothing is held.
   */
  async acquire(units = 1): Promise<boolean> {
    if (this.#waiting.size === 0 && this.#hasCapacityFor(units)) {
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
      const waiter: Waiter = {
        units,
        admit: () => {
          clearTimeout(timer)
          resolve(true)
        },
      }
      const giveUp = () => {
        this.#waiting.delete(waiter)
        resolve(false)
        this.#admit()
      }
      const timer = setTimeout(giveUp, this.#options.maxWaitMs)
      this.#waiting.add(waiter)
    })
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasCapacityFor(waiter.units)) return
      this.#waiting.delete(waiter)
      this.#held += waiter.units
      waiter.admit()
    }
  }

  #hasCapacityFor(units: number): boolean {
    return this.#held + units <= this.#options.max
  }
}
