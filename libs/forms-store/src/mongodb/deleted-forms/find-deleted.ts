import { type FormPath, isPublicId, isUuid } from '@fms/contracts'
import type { FormRef, StoredForm } from '../../forms-store.ts'
import { toStoredForm } from '../convert-documents.ts'
import type { DeletionDocument, FormDocument, FormsCollections, Incarnation } from '../documents.ts'
import { collectForm } from '../events/collect-events.ts'
import { formById } from '../form-queries.ts'
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
 * the note, or is about to remove it. If only a collection can find whether an attempt has deleted the form, since it has
 * not confirmed its note, this runs one for the form. Index: deletions_by_form; for a public id, that of `_id` of publicIds
 * before.
 */
export const findDeleted = async (
  collections: FormsCollections,
  ref: FormRef,
): Promise<RestorableNote | undefined> => {
  const { organizationId } = ref
  const formId = await findFormId(collections, ref)
  if (formId === undefined) return undefined
  const form = { organizationId, formId }
  const notes = await findNotes(collections, form)
  if (notes.length === 0 || notes.some(isRestorable)) return latest(notes)
  await collectForm(collections, form)
  return latest(await findNotes(collections, form))
}

/** The notes of all attempts that may have deleted the form so that it can be restored. */
const findNotes = ({ deletions }: FormsCollections, form: FormPath): Promise<DeletionDocument[]> =>
  Array.fromAsync(deletions.find({ ...form, purgeTime: { $gt: 0 } }))

const isRestorable = (note: DeletionDocument): note is RestorableNote => (note.deleteTime ?? 0) > 0

const latest = (notes: readonly DeletionDocument[]): RestorableNote | undefined =>
  notes.filter(isRestorable).sort((a, b) => b.deleteTime - a.deleteTime)[0]

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

/** Whether the organization has another form with the id of this one. */
export const isReplaced = ({ forms }: FormsCollections, form: Incarnation): Promise<boolean> =>
  forms.has({ ...formById(form), incarnation: { $ne: form.incarnation } })
