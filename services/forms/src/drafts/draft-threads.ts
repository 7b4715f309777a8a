import { WorkerThreads } from '@fms/service-kit'

/** The functions that threads run, by name. */
type Tasks = typeof import('./draft-worker.ts')

/** The worker threads of forms. */
export class DraftThreads extends WorkerThreads<Tasks> {
  constructor(maxThreads?: number) {
    super(new URL('./draft-worker.ts', import.meta.url), maxThreads)
  }
}
