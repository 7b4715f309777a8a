import type { FormRef } from '../../forms-store.ts'
import type { FormDocument, FormsCollections } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { incarnationOf } from '../form-queries.ts'
import { collectForm } from './collect-events.ts'
import { isFull } from './record-event.ts'

/**
 * The document of a form with room for another event: if too many are pending, moves them to the log and reads the form
 * again. That is no conflict, and takes no attempt of the caller. The form is still full if another process
 * was moving its events, or the form has changed meanwhile.
 */
export const findFormWithRoom = async (
  collections: FormsCollections,
  ref: FormRef,
): Promise<FormDocument | undefined> => {
  const form = await findForm(collections, ref)
  if (!form || !isFull(form)) return form
  await collectForm(collections, incarnationOf(form))
  return findForm(collections, ref)
}
