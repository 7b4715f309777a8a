import type { DeletionDocument, FormDocument, FormsCollections } from '../documents.ts'
import { documentIdInOrganization, formByIdEach, formKey, incarnationOf } from '../form-queries.ts'

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
 * @returns whether it was too late. If the form is gone, a delete has found it, so the change was carried out before.
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
  return isLate && forms.deleteOne({ ...formKey(form), eventNumber })
}

/**
 * Removes a form that was inserted too late between the steps of a delete, before `removeIfLate` could find a confirmed note.
 * Only creates and undeletes insert a form, so this sends nothing for most forms.
 *
 * @param note of the delete, confirmed.
 */
export const removeLateInsert = async (
  { forms, usage }: FormsCollections,
  note: DeletionDocument,
): Promise<void> => {
  const { organizationId, incarnation, eventNumber, undeleteCount } = note
  if (eventNumber !== 1 && !undeleteCount) return
  const removals = formByIdEach(note).map((key) => forms.deleteOne({ ...key, incarnation, eventNumber }))
  if (!(await Promise.all(removals)).includes(true)) return
  // Whether usage still has the insert depends on its process, so it is computed again.
  await usage.set({ organizationId, _id: organizationId }, { dueTime: 0 })
}
