import { availableParallelism } from 'node:os'
import { ApiError, type Problem } from '@fms/aip'
import type { Piscina } from 'piscina'
import { FairQueue, type Flow } from './fair-queue.ts'

/** What a thread returns. An ApiError is a value, because an error that a thread throws loses its fields. */
type Outcome<T> = { value: T } | { problem: Problem }

// biome-ignore lint/suspicious/noExplicitAny: the task of each function is another one.
type Tasks = Record<string, (task: any) => Outcome<unknown>>

type ValueOf<T> = T extends (task: never) => Outcome<infer V> ? V : never

export interface WorkerThreadsOptions {
  /** Default: one less than the cores. */
  maxThreads?: number | undefined
  /** Tasks of an organization at the same time, each of another user. Default: 2. */
  perOrganization?: number
  /** How long an idle thread stays, in milliseconds. Default: 10 s. */
  idleTimeoutMs?: number
  /** Limit of the old generation of a thread, in MiB. Default: 96, because large drafts need about 75. */
  maxOldGenerationSizeMb?: number
  /** `workerData` of each thread. */
  data?: unknown
}

let tasks = 0

/** How much work of this process waits for a worker thread, or runs in one. */
export const workerTasks = (): number => tasks

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

/** Threads that the first task starts. Organizations take turns, and within each its users, with one task each at a time. */
export class WorkerThreads<T extends Tasks> {
  readonly #filename: string
  readonly #options: WorkerThreadsOptions & { maxThreads: number }
  readonly #queue: FairQueue
  #opening: Promise<Piscina> | undefined
  #pool: Piscina | undefined
  #isClosed = false

  /** @param filename the module whose exports are the tasks. */
  constructor(filename: URL, options: WorkerThreadsOptions = {}) {
    const { maxThreads = Math.max(1, availableParallelism() - 1), perOrganization = 2 } = options
    this.#filename = filename.href
    this.#options = { ...options, maxThreads }
    this.#queue = new FairQueue({ seats: maxThreads, perOrganization, perUser: 1 })
  }

  /** Runs a task in a thread when it is its turn. @param onTurn called then. @throws {ApiError} those of the task. */
  async run<N extends keyof T & string>(
    name: N,
    task: Parameters<T[N]>[0],
    flow: Flow,
    onTurn = () => {},
  ): Promise<ValueOf<T[N]>> {
    tasks++
    try {
      const outcome = await this.#queue.run(flow, async (): Promise<Outcome<ValueOf<T[N]>>> => {
        onTurn()
        if (this.#isClosed) throw new Error('The worker threads have ended')
        this.#opening ??= this.#open().catch((error) => {
          this.#opening = undefined
          throw error
        })
        const pool = await this.#opening
        return pool.run(task, { name })
      })
      if ('problem' in outcome) throw ApiError.fromProblem(outcome.problem)
      return outcome.value
    } finally {
      tasks--
    }
  }

  get running(): number {
    return this.#pool?.threads.length ?? 0
  }

  /** Ends the threads, and rejects what they do and what waits for them. */
  async close(): Promise<void> {
    this.#isClosed = true
    const pool = await this.#opening
    await pool?.destroy()
  }

  async #open(): Promise<Piscina> {
    const { maxThreads, idleTimeoutMs = 10_000, maxOldGenerationSizeMb = 96, data } = this.#options
    const { Piscina } = await import('piscina')
    const pool = new Piscina({
      filename: this.#filename,
      minThreads: 0,
      maxThreads,
      idleTimeout: idleTimeoutMs,
      recordTiming: false,
      // The young generation has the limit of the process, whose V8 option goes before that of a thread.
      resourceLimits: { maxOldGenerationSizeMb },
      workerData: data,
      // A preload of the process would be loaded in each thread.
      execArgv: [],
      // An idle thread that blocks would not give its memory back.
      atomics: 'disabled',
    })
    this.#pool = pool
    // Threads cannot start: this rejects what waits for them. The next task opens another pool.
    pool.on('error', () => {
      if (this.#pool === pool) this.#opening = undefined
      void pool.destroy()
    })
    return pool
  }
}
