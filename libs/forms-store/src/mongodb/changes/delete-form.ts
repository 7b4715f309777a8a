import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import {
  draftBytes,
  type FormsCollections,
  formKey,
  sizeFields,
  stateFields,
  toFormState,
} from '../documents.ts'
import { findForm } from '../find-form.ts'
import { countWrite } from '../usage.ts'

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
    if (!form) return undefined
    check(toFormState(form))
    // An earlier attempt may have inserted it.
    await deletions.insert({ ...formKey(form), publicId: form.publicId, beginTime: Date.now() })
    const growth = { forms: -1, bytes: -draftBytes(form) }
    const remove = () => forms.deleteOne({ ...formKey(form), version: form.version })
    const isDeleted = await countWrite(collections, noQuota, form.organizationId, growth, remove, {
      formId: form._id,
      incarnation: form.incarnation ?? form._id,
    })
    return isDeleted ? form : writeConflict
  }
  const form = await retryOnConflict(attempt, () => updateAborted(ref))
  if (!form) return false
  const { organizationId, _id: formId, publicId } = form
  await publicIds.deleteOne({ _id: publicId, organizationId, formId })
  return true
}
