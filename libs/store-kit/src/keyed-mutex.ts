/** A mutex for each key within this process. Compare-and-set detects conflicts with other processes. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` after all earlier work of the key has settled: first in, first out. */
  runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const settled: Promise<void> = running.then(
      () => this.#release(key, settled),
      () => this.#release(key, settled),
    )
    this.#last.set(key, settled)
    return running
  }

  #release(key: string, settled: Promise<void>): void {
    if (this.#last.get(key) === settled) this.#last.delete(key)
  }
}
