import { ApiError } from '@fms/aip'
import { WorkerThreads } from '@fms/scheduling/worker-threads'
import { storeUnavailable } from '@fms/store-kit'
import type { ListOptions, ListReport } from '../../forms-store.ts'
import type { PageKind, Pages } from './pages.ts'
import type { ReaderData } from './reader-thread.ts'

/** An idle thread takes 28 MiB; a new one starts in 0.2 s. */
const idleTimeoutMs = 60_000

/**
 * Reads large pages in two worker threads, so that they do not block the event loop of the service. Organizations take
 * turns, and within each its users. One organization occupies one thread at most: the other one is left for the others.
 */
export class Reader extends WorkerThreads<typeof import('./reader-thread.ts')> {
  constructor(data: ReaderData) {
    super(new URL('./reader-thread.ts', import.meta.url), {
      maxThreads: 2,
      perOrganization: 1,
      idleTimeoutMs,
      maxOldGenerationSizeMb: 64,
      data,
    })
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
    const startedAt = performance.now()
    const noteWait = () => {
      report.waitedMs ||= performance.now() - startedAt
    }
    const { promise: cancelled, reject } = Promise.withResolvers<never>()
    const cancel = () => {
      Atomics.store(isCancelled, 0, 1)
      noteWait()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', cancel, { once: true })
    const flow = { organization: query.organizationId, user: caller }
    try {
      const response = this.run('respond', { kind, query, isCancelled }, flow, noteWait).catch((cause) => {
        throw storeUnavailable(cause)
      })
      const { report: known, ...outcome } = await Promise.race([response, cancelled])
      Object.assign(report, known)
      if ('problem' in outcome) throw ApiError.fromProblem(outcome.problem)
      if ('failure' in outcome) throw new Error(outcome.failure)
      return outcome.page as Pages[K]['page']
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }
}
