import { isReplaced } from '../deleted-forms/find-deleted.ts'
import type { FormsCollections, Incarnation } from '../documents.ts'
import type { ChangeRecorder } from '../events/record-event.ts'
import { deleteForm } from './delete-form.ts'

/**
 * Deletes a form that was just stored if the organization has another one with its id. A create with a chosen id may store a
 * form under another `_id` than an import or an undelete, so that the engine accepts both: see `documentIdsOf`. Creates with
 * chosen ids and imports look for the other form after their own insert, so at least one of two finds it.
 *
 * @returns whether there is another form.
 */
export const deleteIfDuplicate = async (
  collections: FormsCollections,
  form: Incarnation,
  { context, onRecorded }: ChangeRecorder,
): Promise<boolean> => {
  if (!(await isReplaced(collections, form))) return false
  const { organizationId, formId, incarnation } = form
  await deleteForm(collections, { organizationId, formRef: formId, incarnation }, () => {}, {
    context,
    onRecorded,
  })
  return true
}
