/** Work in steps of a few milliseconds. Yields between them. */
export type Steps<T> = Generator<undefined, T>

/** A page that is read in steps. Yields an item, or undefined between two steps without one. */
export type PageSteps<Item, End> = Generator<Item | undefined, End>

/** Runs all steps synchronously. For small work. */
export const runToEnd = <T>(steps: Steps<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/**
 * Runs the steps in separate turns of the event loop.
 *
 * @param onItem receives each item.
 * @param throwIfStopped called between two steps; throws to end the work.
 */
export const runInTurns = async <Item, End>(
  steps: PageSteps<Item, End>,
  onItem: (item: Item) => void,
  throwIfStopped: () => void,
): Promise<End> => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (value !== undefined) onItem(value)
    await new Promise((resolve) => setImmediate(resolve))
    throwIfStopped()
  }
}

/** Adapts the number of rows per step, so that each step takes a few milliseconds. */
export class StepSize {
  #rows: number
  readonly #maxRows: number

  constructor(firstRows = 500, maxRows = 16_000) {
    this.#rows = firstRows
    this.#maxRows = maxRows
  }

  get rows(): number {
    return this.#rows
  }

  /** Adapts to the duration of the last step, in milliseconds. */
  adapt(ms: number): void {
    if (ms > 6) this.#rows = Math.max(50, this.#rows >> 1)
    else if (ms < 2) this.#rows = Math.min(this.#maxRows, this.#rows * 2)
  }
}
