/**
 * A mutual exclusion for each key, such as a form, within this process: changes of one form run one after the other
 * rather than lose a race. Other processes are kept apart by compare-and-set alone.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` once everything that was given before under this key has settled: first in, first out. */
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
