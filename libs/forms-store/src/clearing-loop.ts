const intervalMs = 60_000

/** Purges due forms and clears what purged ones leave: immediately, on `wake`, and every minute. One run at a time. */
export class ClearingLoop {
  readonly #clear: (signal: AbortSignal) => Promise<void>
  readonly #stop = new AbortController()
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  #isPending = false

  /** @param clear does one run; stops soon after the signal aborts. A rejection is retried after a minute. */
  constructor(clear: (signal: AbortSignal) => Promise<void>) {
    this.#clear = clear
    this.#timer = setInterval(() => this.wake(), intervalMs).unref()
    this.wake()
  }

  /** Starts a run, or another one after the current run. */
  wake(): void {
    this.#isPending = true
    this.#running ??= this.#run()
  }

  /** Stops the current run and resolves once it ended. The next process that opens the store continues. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#isPending && !this.#stop.signal.aborted) {
      this.#isPending = false
      await this.#clear(this.#stop.signal).catch(() => {})
    }
    this.#running = undefined
  }
}
