import { overloaded } from './http/errors.ts'

export interface FairQueueOptions {
  /** Tasks that run concurrently. */
  concurrency: number
  /** Maximum of tasks of one key, waiting or running. */
  maxPerKey: number
  /** Maximum of tasks, waiting or running. */
  maxTasks: number
}

interface Task {
  start: () => Promise<void>
}

/**
 * Runs the tasks of many keys, such as users, round-robin: at most one of each key at a time, and the next one of the same
 * key after all other waiting keys. A task waits for at most one task of any other key.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  /** Waiting tasks by key, in the order in which keys are served. */
  readonly #waiting = new Map<string, Task[]>()
  readonly #running = new Set<string>()
  #tasks = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** @throws {ApiError} OVERLOADED when the key, or the queue, has its maximum of tasks. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { maxPerKey, maxTasks } = this.#options
    const waiting = this.#waiting.get(key) ?? []
    const tasksOfKey = waiting.length + (this.#running.has(key) ? 1 : 0)
    if (tasksOfKey >= maxPerKey || this.#tasks >= maxTasks) throw overloaded()
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
    const [key, waiting] = next
    // A copy without the first task would keep the tasks of all earlier copies in memory, through their callbacks.
    const task = waiting.shift()!
    this.#waiting.delete(key)
    // Re-inserted at the end: all other keys come before its next task.
    if (waiting.length > 0) this.#waiting.set(key, waiting)
    this.#running.add(key)
    void task.start().finally(() => {
      this.#running.delete(key)
      this.#tasks--
      this.#startNext()
    })
  }
}
