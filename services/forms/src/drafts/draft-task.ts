import { ApiError, type JsonObject, type Problem } from '@fms/aip'
import type { StoredDraft } from '@fms/forms-store'
import { newDraft, patchDraft } from '../domain/write-draft.ts'

/** What a draft is made of, as texts, which are cheap to pass between threads. */
export interface DraftTask {
  /** The draft as it is stored; absent in a create. */
  draftJson?: string
  /** A JSON object. */
  patchJson: string
}

/** The draft, absent when the patch changes nothing; or why there is none. */
export type DraftOutcome = { draft?: StoredDraft } | { problem: Problem }

export const writeDraft = (draftJson: string | undefined, patch: JsonObject): StoredDraft | undefined =>
  draftJson === undefined ? newDraft(patch) : patchDraft(draftJson, patch)

/** What a worker thread runs. An error of the caller's is a value, since a thread would pass on its message alone. */
export const runDraftTask = ({ draftJson, patchJson }: DraftTask): DraftOutcome => {
  try {
    const draft = writeDraft(draftJson, JSON.parse(patchJson))
    return draft ? { draft } : {}
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.toProblem() }
    throw error
  }
}
