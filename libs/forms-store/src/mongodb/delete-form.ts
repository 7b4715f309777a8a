import { lostRace, untilWon } from '@fms/store-kit/mongodb'
import { updateAborted } from '../errors.ts'
import type { FormRef, FormState } from '../forms-store.ts'
import {
  type DeletionDocument,
  type FormsCollections,
  formKey,
  named,
  stateFields,
  toFormState,
} from './documents.ts'

/**
 * Notes the intention; takes the form, from when on nobody sees anything of it; then its revisions, its replies and
 * its public id; then the note. A delete that was killed after the form was gone is finished by the next delete in
 * the organization, a repeat of the same one included.
 *
 * @returns false when there is no such form.
 */
export const deleteForm = async (
  collections: FormsCollections,
  ref: FormRef,
  check: (current: FormState) => void,
): Promise<boolean> => {
  const query = named(ref)
  if (!query) return false
  await finishDeletions(collections, ref.organizationId)

  const { forms, deletions } = collections
  const attempt = async () => {
    const form = await forms.findOne(query, stateFields)
    if (!form) return undefined
    check(toFormState(form))
    const deletion = { ...formKey(form), publicId: form.publicId, beginTime: Date.now() }
    // The note of an earlier attempt serves as well.
    await deletions.insert(deletion)
    return (await forms.deleteOne({ ...formKey(form), version: form.version })) ? deletion : lostRace
  }
  const deletion = await untilWon(attempt, () => updateAborted(ref))
  if (!deletion) return false
  await finish(collections, deletion)
  return true
}

/** Takes away what is left of forms whose delete was killed. */
export const finishDeletions = async (
  collections: FormsCollections,
  organizationId: string,
): Promise<void> => {
  for await (const deletion of collections.deletions.find({ organizationId })) {
    // A form that is there still: its delete is under way, or was killed before it took effect.
    if (await collections.forms.has({ organizationId, _id: deletion._id })) continue
    await finish(collections, deletion)
  }
}

const finish = async (
  { revisions, replies, publicIds, deletions }: FormsCollections,
  { _id: formId, organizationId, publicId }: DeletionDocument,
): Promise<void> => {
  await revisions.deleteMany({ organizationId, formId })
  await replies.deleteMany({ organizationId, formId })
  // Unless another form has it by now.
  await publicIds.deleteOne({ _id: publicId, organizationId, formId })
  await deletions.deleteOne({ organizationId, _id: formId })
}
