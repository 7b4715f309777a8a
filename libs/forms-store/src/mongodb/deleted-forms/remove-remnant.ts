import type { DeletionDocument, FormDocument, FormsCollections } from '../documents.ts'
import { formKey } from '../form-queries.ts'

/**
 * Removes what a killed undelete or create has left, if a form exists beside its confirmed note: the note, if the form was
 * restored since; otherwise the form, since a late insert has stored it again. Index: deletions_by_form.
 *
 * @param form as it was read.
 */
export const removeRemnant = async (
  collections: FormsCollections,
  note: DeletionDocument,
  form: FormDocument,
): Promise<void> => {
  const { forms, deletions } = collections
  const { _id, organizationId, eventNumber = 0 } = note
  const isSame = { ...formKey(form), eventNumber: form.eventNumber ?? null }
  if ((form.eventNumber ?? 0) > eventNumber) {
    if (await forms.confirm(isSame)) await removeNotes(collections, note)
  } else if (await deletions.confirm({ organizationId, _id, isConfirmed: true, eventNumber })) {
    await forms.deleteOne(isSame)
  }
}

/** Removes the note of a delete that is undone, and those of earlier ones. Index: deletions_by_form. */
export const removeNotes = async (
  { deletions }: FormsCollections,
  { organizationId, formId, incarnation, eventNumber }: DeletionDocument,
): Promise<void> => {
  await deletions.deleteMany({ organizationId, formId, incarnation, eventNumber: { $lte: eventNumber } })
}
