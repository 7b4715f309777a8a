import {
  type ChangedForm,
  type FormRef,
  type FormsStore,
  formNotFound,
  type StoredForm,
} from '@fms/forms-store'

/** The form after a change, for a dry run. @throws {ApiError} FORM_NOT_FOUND, QUOTA_EXCEEDED, the errors of `change`. */
export const previewChange = async (
  forms: FormsStore,
  ref: FormRef,
  change: (current: StoredForm) => Promise<ChangedForm>,
): Promise<ChangedForm> => {
  const current = await forms.get(ref)
  if (!current) throw formNotFound(ref)
  const changed = await change(current)
  if (changed === current) return changed
  const bytes = Buffer.byteLength(changed.draftJson) - Buffer.byteLength(current.draftJson)
  await forms.checkQuota(ref.organizationId, { bytes })
  return changed
}
