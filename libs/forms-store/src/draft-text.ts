import type { FormDraft } from '@fms/contracts'
import type { DraftText, FormText, RevisionText, StoredForm, StoredRevision } from './forms-store.ts'

/** A draft as a change stores it. */
export const draftTextOf = (draft: FormDraft): DraftText => ({
  draftJson: JSON.stringify(draft),
  name: draft.name,
  type: draft.type,
  aiHandoff: draft.aiHandoff.enabled,
})

export const serializeDraft = ({ draft, ...state }: StoredForm): FormText => ({
  ...state,
  ...draftTextOf(draft),
})

export const parseDraft = ({
  draftJson,
  name: _name,
  type: _type,
  aiHandoff: _aiHandoff,
  jsonBytes: _jsonBytes,
  ...state
}: FormText): StoredForm => ({ ...state, draft: JSON.parse(draftJson) })

export const parseRevision = ({
  formJson,
  jsonBytes: _jsonBytes,
  ...revision
}: RevisionText): StoredRevision => ({
  ...revision,
  form: JSON.parse(formJson),
})
