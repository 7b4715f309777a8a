/** Ends work orderly on SIGINT or SIGTERM: items in flight complete. A second signal ends the process immediately. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController()
  readonly #signals = ['SIGINT', 'SIGTERM'] as const
  readonly #interrupt = () => {
    this.#controller.abort()
    this[Symbol.dispose]()
  }

  constructor() {
    for (const signal of this.#signals) process.once(signal, this.#interrupt)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  async *until<T>(items: AsyncIterable<T> | T[]): AsyncGenerator<T> {
    for await (const item of items) {
      if (this.signal.aborted) return
      yield item
    }
  }

  /** @param resumeHint how to resume the work, for the message. @throws {Error} if the work was interrupted. */
  check(resumeHint: string): void {
    if (this.signal.aborted) throw new Error(`Interrupted. ${resumeHint}`)
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) process.off(signal, this.#interrupt)
  }
}
