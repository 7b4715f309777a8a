import { isPublicId, isUuid } from '@fms/contracts'
import type { FormRef, StoredForm } from '../../forms-store.ts'
import {
  type DeletionDocument,
  type FormDocument,
  type FormsCollections,
  formById,
  toStoredForm,
} from '../documents.ts'
import { findRestored } from './find-restored.ts'

/** The note of a form that can be restored. */
export interface RestorableNote extends DeletionDocument {
  form: FormDocument
  eventNumber: number
  deleteTime: number
  purgeTime: number
}

/**
 * The note of a deleted form that can be restored. The form may exist, too: then an undelete was killed before it removed
 * the note, or is about to remove it. Index: deletions_by_form; for a public id, that of `_id` of publicIds before.
 */
export const findDeleted = async (
  collections: FormsCollections,
  ref: FormRef,
): Promise<RestorableNote | undefined> => {
  const { organizationId } = ref
  const formId = await findFormId(collections, ref)
  if (formId === undefined) return undefined
  const found = collections.deletions.find({ organizationId, formId, deleteTime: { $gt: 0 } })
  const notes = (await Array.fromAsync(found)) as RestorableNote[]
  return notes.sort((a, b) => b.deleteTime - a.deleteTime)[0]
}

/** A public id stays reserved until its form is purged. */
const findFormId = async (
  { publicIds }: FormsCollections,
  { organizationId, formRef }: FormRef,
): Promise<string | undefined> => {
  if (isUuid(formRef)) return formRef.toLowerCase()
  if (!isPublicId(formRef)) return undefined
  return (await publicIds.findOne({ _id: formRef, organizationId }))?.formId
}

/** A deleted form that can be restored. */
export const getDeleted = async (
  collections: FormsCollections,
  ref: FormRef,
): Promise<StoredForm | undefined> => {
  const note = await findDeleted(collections, ref)
  return note && !(await findRestored(collections, note)) ? toStoredForm(note.form) : undefined
}

/** Whether the organization has another form with the id of a deleted one. */
export const isReplaced = ({ forms }: FormsCollections, note: DeletionDocument): Promise<boolean> =>
  forms.has({ ...formById(note), incarnation: { $ne: note.incarnation } })
