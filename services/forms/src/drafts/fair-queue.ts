import { overloaded } from '@fms/service-kit'

export interface FairQueueOptions {
  /** Tasks that run at once. */
  concurrency: number
  /** Tasks of one key that wait or run. */
  maxPerKey: number
  /** Tasks that wait or run. */
  maxTasks: number
}

interface Task {
  start: () => Promise<void>
}

/**
 * Runs tasks of many keys, such as users, in turn: at most one of each key at a time, and after it all other keys that
 * have one waiting. So however many tasks a key has, another's waits for one of them at most.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  /** Keys in the order of their next turn. */
  readonly #waiting = new Map<string, Task[]>()
  readonly #running = new Set<string>()
  #tasks = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** @throws {ApiError} OVERLOADED when too many tasks of the key, or of all, are waiting. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { maxPerKey, maxTasks } = this.#options
    const waiting = this.#waiting.get(key) ?? []
    const ofKey = waiting.length + (this.#running.has(key) ? 1 : 0)
    if (ofKey >= maxPerKey || this.#tasks >= maxTasks) throw overloaded()
    this.#tasks++
    return new Promise<T>((resolve, reject) => {
      waiting.push({ start: () => work().then(resolve, reject) })
      this.#waiting.set(key, waiting)
      this.#startNext()
    })
  }

  #startNext(): void {
    if (this.#running.size >= this.#options.concurrency) return
    const next = this.#waiting.entries().find(([key]) => !this.#running.has(key))
    if (!next) return
    const [key, [task, ...others]] = next
    this.#waiting.delete(key)
    // At the end: every other key comes before its next task.
    if (others.length > 0) this.#waiting.set(key, others)
    this.#running.add(key)
    void task!.start().finally(() => {
      this.#running.delete(key)
      this.#tasks--
      this.#startNext()
    })
  }
}
