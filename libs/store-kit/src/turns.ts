/**
 * Work on one thing, such as a form, one piece after the other within this process: what would otherwise lose a race
 * against its neighbour waits for it. Other processes know nothing of it.
 */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs `work` after everything that was given before under this key. */
  take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const done: Promise<void> = turn.then(
      () => this.#forget(key, done),
      () => this.#forget(key, done),
    )
    this.#last.set(key, done)
    return turn
  }

  #forget(key: string, done: Promise<void>): void {
    if (this.#last.get(key) === done) this.#last.delete(key)
  }
}
