import type { Form, FormDraft } from '@fms/contracts'
import type { StoredDraft, StoredForm, StoredRevision } from './forms-store.ts'
import { draftSummaryOf } from './stored-rows.ts'

/** The stored fields of a draft: its JSON text, and copies of the members that the store reads. */
export const toStoredDraft = (draft: FormDraft): StoredDraft => ({
  draftJson: JSON.stringify(draft),
  ...draftSummaryOf(draft),
  aiHandoff: draft.aiHandoff.enabled,
})

/** The draft of a stored form. Parses up to 768 KiB of JSON, so reads that only forward the form do without it. */
export const parseDraft = ({ draftJson }: Pick<StoredForm, 'draftJson'>): FormDraft => JSON.parse(draftJson)

/** The form as a stored revision holds it. */
export const parseSnapshot = ({ formJson }: Pick<StoredRevision, 'formJson'>): Form => JSON.parse(formJson)
