import type { PreconditionViolation } from '@fms/contracts'
import type { StoredForm, StoredRevision } from '@fms/forms-store'
import type { Flow } from '@fms/scheduling'
import { WorkerThreads } from '@fms/scheduling/worker-threads'
import { smallBodyBytes } from '@fms/service-kit'
import { breakingChangesOf, violationsOf } from './check-draft.ts'

/** Checks drafts before they are published. Small ones on the calling thread; large ones, up to 80 ms, in worker threads. */
export class DraftChecks extends WorkerThreads<typeof import('./draft-worker.ts')> {
  constructor() {
    super(new URL('./draft-worker.ts', import.meta.url))
  }

  async violations({ draftJson }: StoredForm, flow: Flow): Promise<PreconditionViolation[]> {
    return isLarge(draftJson) ? this.run('violations', draftJson, flow) : violationsOf(draftJson)
  }

  async breakingChanges(
    { draftJson }: StoredForm,
    { formJson: liveJson }: StoredRevision,
    flow: Flow,
  ): Promise<PreconditionViolation[]> {
    const states = { draftJson, liveJson }
    return isLarge(draftJson + liveJson) ? this.run('breaking', states, flow) : breakingChangesOf(states)
  }
}

const isLarge = (json: string) => json.length > smallBodyBytes
