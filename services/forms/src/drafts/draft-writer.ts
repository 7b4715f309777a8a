import { availableParallelism } from 'node:os'
import { ApiError, type JsonObject } from '@fms/aip'
import type { StoredDraft } from '@fms/forms-store'
import { Gauge, malformedRequest } from '@fms/service-kit'
import type { Piscina } from 'piscina'
import { type DraftOutcome, type DraftTask, writeDraft } from './draft-task.ts'
import { FairQueue } from './fair-queue.ts'

/** A JSON object: parsed where it is small, and as text where it is large. */
export type Patch = JsonObject | string

/** For whom a draft is written. */
export interface DraftCaller {
  userId: string
  /** Whether nobody waits for the answer any more. */
  hasGone: () => boolean
}

export interface DraftWriterOptions {
  /** Patches and drafts of more characters than this are checked in a worker thread. */
  largeLength?: number
  /** Worker threads at most. */
  threads?: number
}

/** Tasks for worker threads that wait or run: together, and of one user. Each holds a body of at most 1 MiB. */
const maxTasks = 192
const maxTasksPerUser = 64

const tasks = new Gauge({
  name: 'forms_draft_tasks',
  help: 'Large creates and patches that wait for a worker thread, or are checked by one',
})

/** A thread that has nothing to do ends after this time. */
const idleTimeoutMs = 10_000

/** What the heap of a thread may grow to; the worst body on the worst draft takes some 60 MiB. */
const threadHeap = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 8 }

/**
 * Checks creates and patches. Small ones run at once; large ones, which take up to 100 ms, run in worker threads, so that
 * the event loop is free meanwhile. The threads start with the first large one, and take users in turn.
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
   * The draft that a create asks for.
   *
   * @throws {ApiError} INVALID_REQUEST with everything that is wrong, OVERLOADED.
   */
  async create(form: Patch, caller: DraftCaller): Promise<StoredDraft> {
    const draft = await this.#write(undefined, form, caller)
    if (!draft) throw new Error('a create without a draft')
    return draft
  }

  /**
   * The draft that a merge patch makes of a stored one (RFC 7396).
   *
   * @returns undefined when the patch changes nothing.
   * @throws {ApiError} INVALID_REQUEST with everything that is wrong with the result, OVERLOADED.
   */
  patch(draftJson: string, patch: Patch, caller: DraftCaller): Promise<StoredDraft | undefined> {
    return this.#write(draftJson, patch, caller)
  }

  /** How many threads there are now. */
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
    const outcome = await this.#queued(task, caller)
    if ('problem' in outcome) throw ApiError.fromProblem(outcome.problem)
    return outcome.draft
  }

  async #queued(task: DraftTask, caller: DraftCaller): Promise<DraftOutcome> {
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
    if (caller.hasGone()) throw malformedRequest(new Error('the caller went away before its turn'))
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
