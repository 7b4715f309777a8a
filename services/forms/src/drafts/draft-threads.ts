import { availableParallelism } from 'node:os'
import { FairQueue, Gauge, malformedRequest } from '@fms/service-kit'
import type { Piscina } from 'piscina'

/** The functions that threads run, by name. */
type Tasks = typeof import('./draft-worker.ts')

/** The caller of a request. */
export interface DraftCaller {
  userId: string
  /** Whether the connection of the request is closed. */
  hasDisconnected: () => boolean
}

/**
 * Bounds of the tasks that wait or run: in total, and per user. Each holds up to 1.75 MiB of JSON, and a result of up to
 * 5 MiB.
 */
const maxTasks = 192
const maxTasksPerUser = 64

const tasks = new Gauge({
  name: 'forms_draft_tasks',
  help: 'Large creates, patches, rollbacks, comparisons and digests that wait for a worker thread, or run in one',
})

/** Idle threads end after this time. */
const idleTimeoutMs = 10_000

/** Limits of a thread's heap. The largest task needs about 75 MiB. */
const threadHeap = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 }

/**
 * Worker threads for large drafts, which leave the event loop free. Threads start with the first task and serve users
 * round-robin.
 */
export class DraftThreads {
  readonly #maxThreads: number
  readonly #queue: FairQueue
  #opening: Promise<Piscina> | undefined
  #pool: Piscina | undefined

  /** @param maxThreads default: one less than there are cores, at least 1. */
  constructor(maxThreads = Math.max(1, availableParallelism() - 1)) {
    this.#maxThreads = maxThreads
    this.#queue = new FairQueue({ concurrency: maxThreads, maxPerKey: maxTasksPerUser, maxTasks })
  }

  /** @throws {ApiError} OVERLOADED when the user, or the queue, has its maximum of tasks. */
  async run<N extends keyof Tasks>(
    name: N,
    task: Parameters<Tasks[N]>[0],
    caller: DraftCaller,
  ): Promise<ReturnType<Tasks[N]>> {
    tasks.inc()
    try {
      return await this.#queue.run(caller.userId, async () => {
        this.#opening ??= this.#open()
        const pool = await this.#opening
        if (caller.hasDisconnected())
          throw malformedRequest(new Error('The caller disconnected before its task started'))
        return pool.run(task, { name })
      })
    } finally {
      tasks.dec()
    }
  }

  /** The number of running threads. */
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
      filename: new URL('./draft-worker.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: this.#maxThreads,
      idleTimeout: idleTimeoutMs,
      recordTiming: false,
      resourceLimits: threadHeap,
    })
    return this.#pool
  }
}
