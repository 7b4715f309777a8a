import { WorkerThreads } from '@fms/scheduling/worker-threads'

type Tasks = typeof import('./draft-worker.ts')

export class DraftThreads extends WorkerThreads<Tasks> {
  constructor(maxThreads?: number) {
    super(new URL('./draft-worker.ts', import.meta.url), { maxThreads })
  }
}
