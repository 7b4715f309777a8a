import { apiError, toFieldViolations } from '@fms/aip'
import { FormDraft, outputOnlyFields } from '@fms/contracts'
import { changedFields, toStoredDraft } from '@fms/forms-store'
import { type ChangedDraft, tooLarge } from './write-draft.ts'

/**
 * Takes over a snapshot, or returns undefined if nothing changes. `aiHandoff` stays: it takes effect without a publish.
 *
 * @throws {ApiError} REVISION_NOT_RESTORABLE with all violations.
 */
export const restoreDraft = (draftJson: string, snapshotJson: string): ChangedDraft | undefined => {
  const stored: FormDraft = JSON.parse(draftJson)
  const { data, error } = FormDraft.safeParse({ ...makerFields(snapshotJson), aiHandoff: stored.aiHandoff })
  const draft = data && toStoredDraft(data)
  const violations = [
    ...(error ? toFieldViolations(error, 'form') : []),
    ...(draft ? tooLarge(draft.draftJson) : []),
  ]
  if (!draft || violations.length > 0) {
    const preconditionViolations = violations.map(({ field, description }) => ({
      type: 'FIELD_INVALID',
      subject: field,
      description,
    }))
    const { field: subject = '' } = violations[0] ?? {}
    throw apiError('REVISION_NOT_RESTORABLE', { subject }, { preconditionViolations })
  }
  const fields = changedFields(stored, data)
  return fields.length > 0 ? { ...draft, changedFields: fields } : undefined
}

/** The fields of a snapshot that its maker edits. */
const makerFields = (snapshotJson: string): Record<string, unknown> => {
  const fields = JSON.parse(snapshotJson)
  for (const field of outputOnlyFields) delete fields[field]
  return fields
}
