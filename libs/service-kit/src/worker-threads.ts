import { availableParallelism } from 'node:os'
import { ApiError, type Problem } from '@fms/aip'
import { FairQueue, type Flow } from '@fms/fair-queue'
import type { Piscina } from 'piscina'
import { Gauge } from 'prom-client'

/** What a thread returns. An ApiError is a value, because an error that a thread throws loses its fields. */
type Outcome<T> = { value: T } | { problem: Problem }

// biome-ignore lint/suspicious/noExplicitAny: the task of each function is another one.
type Tasks = Record<string, (task: any) => Outcome<unknown>>

type ValueOf<T> = T extends (task: never) => Outcome<infer V> ? V : never

const tasks = new Gauge({
  name: 'worker_tasks',
  help: 'Work on large drafts that waits for a worker thread, or runs in one',
})

/** Idle threads end after this time. */
const idleTimeoutMs = 10_000

/** Limits of a thread's heap. The largest task needs about 75 MiB. */
const threadHeap = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 }

/** Makes a function one that threads run: the module that {@link WorkerThreads} loads exports it. */
export const threadTask =
  <T, V>(work: (task: T) => V) =>
  (task: T): Outcome<V> => {
    try {
      return { value: work(task) }
    } catch (error) {
      if (error instanceof ApiError) return { problem: error.toProblem() }
      throw error
    }
  }

/** Threads for large drafts, started by the first task: in turn over organizations (two tasks) and users (one). */
export class WorkerThreads<T extends Tasks> {
  readonly #filename: string
  readonly #maxThreads: number
  readonly #queue: FairQueue
  #opening: Promise<Piscina> | undefined
  #pool: Piscina | undefined

  /** @param filename the module whose exports are the tasks. @param maxThreads default: one less than the cores. */
  constructor(filename: URL, maxThreads = Math.max(1, availableParallelism() - 1)) {
    this.#filename = filename.href
    this.#maxThreads = maxThreads
    this.#queue = new FairQueue({ places: maxThreads, perOrganization: 2, perUser: 1 })
  }

  /** Runs a task in a thread when it is its turn. @throws {ApiError} those of the task. */
  async run<N extends keyof T & string>(
    name: N,
    task: Parameters<T[N]>[0],
    flow: Flow,
  ): Promise<ValueOf<T[N]>> {
    tasks.inc()
    try {
      const outcome = await this.#queue.run(flow, async (): Promise<Outcome<ValueOf<T[N]>>> => {
        this.#opening ??= this.#open()
        const pool = await this.#opening
        return pool.run(task, { name })
      })
      if ('problem' in outcome) throw ApiError.fromProblem(outcome.problem)
      return outcome.value
    } finally {
      tasks.dec()
    }
  }

  get running(): number {
    return this.#pool?.threads.length ?? 0
  }

  async close(): Promise<void> {
    const pool = await this.#opening
    await pool?.destroy()
  }

  async #open(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    this.#pool = new Piscina({
      filename: this.#filename,
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: idleTimeoutMs,
      recordTiming: false,
      resourceLimits: threadHeap,
    })
    return this.#pool
  }
}
