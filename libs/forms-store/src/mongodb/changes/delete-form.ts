import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import {
  draftBytes,
  type FormsCollections,
  formByRef,
  formKey,
  sizeFields,
  stateFields,
  toFormState,
} from '../documents.ts'
import { findForm } from '../find-form.ts'
import { addUsage } from '../usage.ts'

/**
 * Deletes a form in steps: inserts a document into `deletions`, deletes the form, which makes its revisions and replies
 * invisible, and frees its public id. `clearDeletions` deletes the revisions and replies later.
 *
 * @returns false when there is no such form.
 * @throws {ApiError} UPDATE_ABORTED when concurrent changes won until the deadline.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (current: FormState) => void,
): Promise<boolean> => {
  const { forms, deletions, publicIds } = collections
  const attempt = async () => {
    const form = await findForm(collections, ref, [...stateFields, ...sizeFields])
    if (!form) return (await isAbsent(collections, ref)) ? undefined : writeConflict
    check(toFormState(form))
    // An earlier attempt may have inserted it.
    await deletions.insert({ ...formKey(form), publicId: form.publicId, beginTime: Date.now() })
    return (await forms.deleteOne({ ...formKey(form), version: form.version })) ? form : writeConflict
  }
  const form = await retryOnConflict(attempt, () => updateAborted(ref))
  if (!form) return false
  const { organizationId, _id: formId, publicId } = form
  await publicIds.deleteOne({ _id: publicId, organizationId, formId })
  await addUsage(collections, organizationId, { forms: -1, bytes: -draftBytes(form) })
  return true
}

/** Whether there is no such form, and a failover brings none back that an earlier attempt has deleted. */
const isAbsent = async ({ forms }: FormsCollections, ref: FormRef): Promise<boolean> => {
  const query = formByRef(ref)
  return !query || !(await forms.confirm(query))
}
