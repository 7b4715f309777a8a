/** Lets the records under way come to their end when the work is interrupted; a second Ctrl-C ends the process at once. */
export class Interruption implements Disposable {
  #isWanted = false
  readonly #signals = ['SIGINT', 'SIGTERM'] as const
  readonly #want = () => {
    this.#isWanted = true
    this[Symbol.dispose]()
  }

  constructor() {
    for (const signal of this.#signals) process.once(signal, this.#want)
  }

  /** The items, as long as nobody has interrupted the work. */
  async *until<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const item of items) {
      if (this.#isWanted) return
      yield item
    }
  }

  /** @throws {Error} once somebody has interrupted the work. @param how to go on with it. */
  check(how: string): void {
    if (this.#isWanted) throw new Error(`Interrupted. ${how}`)
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) process.off(signal, this.#want)
  }
}
