import { Worker } from 'node:worker_threads'
import { ApiError } from '@fms/aip'
import { FairQueue } from '@fms/fair-queue'
import { storeUnavailable } from '@fms/store-kit'
import type { ListOptions, ListReport } from '../../forms-store.ts'
import type { PageKind, Pages } from './pages.ts'
import type { ReaderData, ReaderRequest, ReaderResponse } from './reader-thread.ts'

/**
 * Reads large pages in two worker threads, so that they do not block the event loop of the service. Organizations take
 * turns, and within each its users. One organization occupies one thread at most: the other one is left for the others.
 */
export class Reader {
  readonly #threads: readonly ReaderThread[]
  readonly #queue = new FairQueue({ places: 2, perOrganization: 1 })
  #isClosed = false

  constructor(data: ReaderData) {
    this.#threads = [new ReaderThread(data), new ReaderThread(data)]
  }

  /** @throws {ApiError} FILTER_TOO_EXPENSIVE, STORE_UNAVAILABLE; the signal's reason. */
  async read<K extends PageKind>(
    kind: K,
    query: Pages[K]['query'],
    { signal, caller = '' }: ListOptions,
    report: ListReport,
  ): Promise<Pages[K]['page']> {
    signal?.throwIfAborted()
    const isCancelled = new Int32Array(new SharedArrayBuffer(4))
    const { promise: cancelled, reject } = Promise.withResolvers<never>()
    const cancel = () => {
      Atomics.store(isCancelled, 0, 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    const flow = { organization: query.organizationId, user: caller }
    try {
      const startedAt = performance.now()
      const page = this.#queue.run(flow, () => {
        report.waitedMs = performance.now() - startedAt
        return this.#read({ kind, query, isCancelled }, report)
      })
      return (await Promise.race([page, cancelled])) as Pages[K]['page']
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  async #read(request: ReaderRequest, report: ListReport): Promise<unknown> {
    if (this.#isClosed) throw storeUnavailable(new Error('The store is closed'))
    if (Atomics.load(request.isCancelled, 0) === 1) return
    return this.#threads.find(({ isIdle }) => isIdle)!.read(request, report)
  }
}

/** A worker thread that reads one page at a time. It starts with the first one, and again if it ended. */
class ReaderThread {
  readonly #data: ReaderData
  #worker: Worker | undefined
  #reading: PromiseWithResolvers<ReaderResponse> | undefined

  constructor(data: ReaderData) {
    this.#data = data
  }

  get isIdle(): boolean {
    return !this.#reading
  }

  /** @throws {ApiError} those of the page; STORE_UNAVAILABLE when the thread ends. */
  async read(request: ReaderRequest, report: ListReport): Promise<unknown> {
    this.#reading = Promise.withResolvers()
    this.#worker ??= this.#start()
    // A page in flight keeps the process alive; an idle thread does not.
    this.#worker.ref()
    this.#worker.postMessage(request)
    try {
      const response = await this.#reading.promise
      Object.assign(report, response.report)
      if ('problem' in response) throw ApiError.fromProblem(response.problem)
      if ('failure' in response) throw new Error(response.failure)
      return response.page
    } finally {
      this.#reading = undefined
      this.#worker?.unref()
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./reader-thread.ts', import.meta.url), {
      name: 'forms-reader',
      workerData: this.#data,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
    })
    let cause: unknown
    worker.on('message', (response: ReaderResponse) => this.#reading?.resolve(response))
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      this.#worker = undefined
      this.#reading?.reject(
        storeUnavailable(cause ?? new Error(`The reader thread exited with code ${code}`)),
      )
    })
    return worker
  }
}
