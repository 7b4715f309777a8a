import {
  documentIdInOrganization,
  type FormDocument,
  type FormsCollections,
  formKey,
  incarnationOf,
} from '../documents.ts'

/**
 * Inserts a form. If another organization has a form with this `_id`, the form gets the other one: see `documentIdsOf`.
 *
 * @returns the stored document; undefined if the organization has a form with this id.
 */
export const insertForm = async (
  { forms }: FormsCollections,
  document: FormDocument,
): Promise<FormDocument | undefined> => {
  if (await forms.insert(document)) return document
  const { organizationId, _id } = document
  const own = { ...document, _id: documentIdInOrganization(incarnationOf(document)) }
  if (own._id === _id || !(await forms.has({ _id, organizationId: { $ne: organizationId } })))
    return undefined
  return (await forms.insert(own)) ? own : undefined
}

/**
 * Removes a form that was inserted too late: several attempts of a request may insert the same form, and the form of
 * another attempt may have been deleted meanwhile. Then a note of the incarnation has the state of this form, or a later one.
 * Index: deletions_by_form.
 *
 * @returns whether it was too late.
 */
export const removeIfLate = async (collections: FormsCollections, form: FormDocument): Promise<boolean> => {
  const { forms, deletions } = collections
  const own = incarnationOf(form)
  const { eventNumber = 0 } = form
  const fields = ['eventNumber', 'isConfirmed']
  const notes = deletions.find({ ...own, eventNumber: { $gte: eventNumber } }, { fields })
  const isLate = (await Array.fromAsync(notes)).some(
    (note) => note.isConfirmed || note.eventNumber! > eventNumber,
  )
  if (isLate) await forms.deleteOne({ ...formKey(form), eventNumber })
  return isLate
}
