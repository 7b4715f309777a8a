/** Work that gives way between its steps, each of which takes a few milliseconds. */
export type Steps<T> = Generator<undefined, T>

/** A page that is read in steps: it yields an item, or undefined where it gives way. */
export type PageSteps<Item, End> = Generator<Item | undefined, End>

/** All of it at once: for work that is known to be small. */
export const runToEnd = <T>(steps: Steps<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/**
 * Reads a page step by step, other work of the event loop in between.
 *
 * @param demand throws, between two steps, to end the work.
 */
export const runInTurns = async <Item, End>(
  steps: PageSteps<Item, End>,
  take: (item: Item) => void,
  demand: () => void,
): Promise<End> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (value !== undefined) take(value)
    await new Promise((resolve) => setImmediate(resolve))
    demand()
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
