import {
  type ChangedForm,
  type FormRef,
  type FormsStore,
  formNotFound,
  type StoredForm,
} from '@fms/forms-store'

/**
 * The form as a change of its draft would leave it, for a dry run. Stores nothing.
 *
 * @param change as for `FormsStore.update`.
 * @throws {ApiError} FORM_NOT_FOUND; QUOTA_EXCEEDED, as the change would; the errors of `change`.
 */
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
