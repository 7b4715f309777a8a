import { ApiError, type JsonObject, type Problem } from '@fms/aip'
import { restoreDraft } from '../domain/restore-draft.ts'
import { type ChangedDraft, newDraft, patchDraft } from '../domain/write-draft.ts'

/** Input of a draft as JSON text, which is cheap to send to a thread. */
export interface DraftTask {
  /** The stored draft. Absent in a create. */
  draftJson?: string
  /** A JSON object. */
  patchJson: string
}

/** Input of a rollback as JSON text. */
export interface RestoreTask {
  /** The stored draft. */
  draftJson: string
  /** The form in the revision. */
  snapshotJson: string
}

/** The draft, which is absent when nothing changes; or the error of the request. */
export type DraftOutcome = { draft?: ChangedDraft } | { problem: Problem }

/** Creates a draft, or patches the stored one. */
export const writeDraft = (draftJson: string | undefined, patch: JsonObject): ChangedDraft | undefined =>
  draftJson === undefined ? newDraft(patch) : patchDraft(draftJson, patch)

/** {@link writeDraft} in a worker thread. */
export const runDraftTask = ({ draftJson, patchJson }: DraftTask): DraftOutcome =>
  outcomeOf(() => writeDraft(draftJson, JSON.parse(patchJson)))

/** {@link restoreDraft} in a worker thread. */
export const runRestoreTask = ({ draftJson, snapshotJson }: RestoreTask): DraftOutcome =>
  outcomeOf(() => restoreDraft(draftJson, snapshotJson))

/** Returns an ApiError as a value, because an error that a thread throws loses its fields. */
const outcomeOf = (write: () => ChangedDraft | undefined): DraftOutcome => {
  try {
    const draft = write()
    return draft ? { draft } : {}
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.toProblem() }
    throw error
  }
}
