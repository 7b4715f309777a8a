import { ApiError, type JsonObject, type Problem } from '@fms/aip'
import { type ChangedDraft, newDraft, patchDraft } from '../domain/write-draft.ts'

/** Input of a draft as JSON text, which is cheap to send to a thread. */
export interface DraftTask {
  /** The stored draft. Absent in a create. */
  draftJson?: string
  /** A JSON object. */
  patchJson: string
}

/** The draft, which is absent when the patch changes nothing; or the error of the request. */
export type DraftOutcome = { draft?: ChangedDraft } | { problem: Problem }

/** Creates a draft, or patches the stored one. */
export const writeDraft = (draftJson: string | undefined, patch: JsonObject): ChangedDraft | undefined =>
  draftJson === undefined ? newDraft(patch) : patchDraft(draftJson, patch)

/** {@link writeDraft} in a worker thread. Returns an ApiError as a value, because an error that a thread throws loses its fields. */
export const runDraftTask = ({ draftJson, patchJson }: DraftTask): DraftOutcome => {
  try {
    const draft = writeDraft(draftJson, JSON.parse(patchJson))
    return draft ? { draft } : {}
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.toProblem() }
    throw error
  }
}
