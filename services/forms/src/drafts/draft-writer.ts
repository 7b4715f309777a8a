import { availableParallelism } from 'node:os'
import { ApiError, type JsonObject } from '@fms/aip'
import type { StoredDraft } from '@fms/forms-store'
import { Gauge, malformedRequest } from '@fms/service-kit'
import type { Piscina } from 'piscina'
import { FairQueue } from '../fair-queue.ts'
import { type DraftOutcome, type DraftTask, writeDraft } from './draft-task.ts'

/** A JSON object: parsed where it is small, and as text where it is large. */
export type Patch = JsonObject | string

/** The caller of a create or update. */
export interface DraftCaller {
  userId: string
  /** Whether the connection of the request is closed. */
  hasDisconnected: () => boolean
}

export interface DraftWriterOptions {
  /** Worker threads check patches and drafts of more characters than this. Default: 65,536. */
  largeLength?: number
  /** Maximum of worker threads. Default: one less than there are cores, at least 1. */
  threads?: number
}

/** Bounds of the tasks that wait or run: in total, and per user. Each holds a body of up to 1 MiB. */
const maxTasks = 192
const maxTasksPerUser = 64

const tasks = new Gauge({
  name: 'forms_draft_tasks',
  help: 'Large creates and patches that wait for a worker thread, or are checked by one',
})

/** Idle threads end after this time. */
const idleTimeoutMs = 10_000

/** Limits of a thread's heap. The largest body on the largest draft needs about 60 MiB. */
const threadHeap = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 }

/**
 * Computes and checks drafts. Small ones run on the calling thread. Large ones, which take up to 100 ms, run in worker
 * threads and leave the event loop free. Threads start with the first large draft and serve users round-robin.
 */
export class DraftWriter {
  readonly #largeLength: number
  readonly #maxThreads: number
  readonly #queue: FairQueue
  #opening: Promise<Piscina<DraftTask, DraftOutcome>> | undefined
  #pool: Piscina<DraftTask, DraftOutcome> | undefined

  constructor({
    largeLength = 64 * 1024,
    threads = Math.max(1, availableParallelism() - 1),
  }: DraftWriterOptions = {}) {
    this.#largeLength = largeLength
    this.#maxThreads = threads
    this.#queue = new FairQueue({ concurrency: threads, maxPerKey: maxTasksPerUser, maxTasks })
  }

  /**
   * The draft of a create request.
   *
   * @throws {ApiError} INVALID_REQUEST with all violations; OVERLOADED.
   */
  async create(form: Patch, caller: DraftCaller): Promise<StoredDraft> {
    const draft = await this.#write(undefined, form, caller)
    if (!draft) throw new Error('A create returned no draft')
    return draft
  }

  /**
   * Applies a merge patch (RFC 7396) to a stored draft.
   *
   * @returns undefined when the patch changes nothing.
   * @throws {ApiError} INVALID_REQUEST with all violations of the result; OVERLOADED.
   */
  patch(draftJson: string, patch: Patch, caller: DraftCaller): Promise<StoredDraft | undefined> {
    return this.#write(draftJson, patch, caller)
  }

  /** The number of running threads. */
  get threads(): number {
    return this.#pool?.threads.length ?? 0
  }

  async close(): Promise<void> {
    const pool = await this.#opening
    await pool?.destroy()
  }

  async #write(draftJson: string | undefined, patch: Patch, caller: DraftCaller) {
    const isLarge = (text: string | undefined) => text !== undefined && text.length > this.#largeLength
    if (typeof patch !== 'string' && !isLarge(draftJson)) return writeDraft(draftJson, patch)
    const patchJson = typeof patch === 'string' ? patch : JSON.stringify(patch)
    const task = draftJson === undefined ? { patchJson } : { draftJson, patchJson }
    const outcome = await this.#enqueue(task, caller)
    if ('problem' in outcome) throw ApiError.fromProblem(outcome.problem)
    return outcome.draft
  }

  async #enqueue(task: DraftTask, caller: DraftCaller): Promise<DraftOutcome> {
    tasks.inc()
    try {
      return await this.#queue.run(caller.userId, () => this.#runInThread(task, caller))
    } finally {
      tasks.dec()
    }
  }

  async #runInThread(task: DraftTask, caller: DraftCaller): Promise<DraftOutcome> {
    this.#opening ??= this.#open()
    const pool = await this.#opening
    if (caller.hasDisconnected())
      throw malformedRequest(new Error('The caller disconnected before its task started'))
    return pool.run(task)
  }

  async #open(): Promise<Piscina<DraftTask, DraftOutcome>> {
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
