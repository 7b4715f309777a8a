const everyMs = 60_000

/**
 * Clears what deleted forms left: at once, when `wake` is called, and every minute, since another process may have died
 * over a delete. One run at a time.
 */
export class ClearingLoop {
  readonly #clear: (signal: AbortSignal) => Promise<void>
  readonly #stop = new AbortController()
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  #isAwake = false

  /** @param clear may reject: what is left over is tried again in a minute. Ends soon after the signal. */
  constructor(clear: (signal: AbortSignal) => Promise<void>) {
    this.#clear = clear
    this.#timer = setInterval(() => this.wake(), everyMs).unref()
    this.wake()
  }

  wake(): void {
    this.#isAwake = true
    this.#running ??= this.#run()
  }

  /** Resolves once nothing is being cleared any more; what is left over waits for whoever opens the store next. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isAwake && !this.#stop.signal.aborted) {
      this.#isAwake = false
      await this.#clear(this.#stop.signal).catch(() => {})
    }
    this.#running = undefined
  }
}
