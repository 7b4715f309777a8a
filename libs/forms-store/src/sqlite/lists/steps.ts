/** Work that gives way between its steps, each of which takes a few milliseconds. */
export type Steps<T> = Generator<undefined, T>

/** All of it at once: for work that is known to be small. */
export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/**
 * One step in a turn of the event loop.
 *
 * @param demand throws, between two steps, to end the work.
 */
export const inTurns = async <T>(steps: Steps<T>, demand: () => void): Promise<T> => {
  try {
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      demand()
      await new Promise((resolve) => setImmediate(resolve))
      demand()
    }
  } finally {
    steps.return(undefined as never)
  }
}

/** How many rows a step reads, so that it takes some milliseconds whatever is asked of each. */
export class Pace {
  #rows: number
  readonly #maxRows: number

  constructor(firstRows = 500, maxRows = 16_000) {
    this.#rows = firstRows
    this.#maxRows = maxRows
  }

  get rows(): number {
    return this.#rows
  }

  /** @param ms what the last step took. */
  took(ms: number): void {
    if (ms > 6) this.#rows = Math.max(50, this.#rows >> 1)
    else if (ms < 2) this.#rows = Math.min(this.#maxRows, this.#rows * 2)
  }
}
