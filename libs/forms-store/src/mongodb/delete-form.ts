import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../errors.ts'
import type { FormRef, FormState } from '../forms-store.ts'
import {
  draftBytes,
  type FormsCollections,
  formByRef,
  formKey,
  sizeFields,
  stateFields,
  toFormState,
} from './documents.ts'
import { addUsage } from './usage.ts'

/**
 * Notes the intention; takes the form, from when on nobody sees anything of it; frees its public id. Its revisions and
 * replies are cleared afterwards, and then the note: `clearDeletions`.
 *
 * @returns false when there is no such form.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (current: FormState) => void,
): Promise<boolean> => {
  const query = formByRef(ref)
  if (!query) return false

  const { forms, deletions, publicIds } = collections
  const attempt = async () => {
    const form = await forms.findOne(query, [...stateFields, ...sizeFields])
    if (!form) return undefined
    check(toFormState(form))
    // The note of an earlier attempt serves as well.
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
