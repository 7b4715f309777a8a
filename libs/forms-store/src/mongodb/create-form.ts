import type { StoredForm } from '../forms-store.ts'
import { type FormsCollections, newFormDocument } from './documents.ts'

/**
 * Reserves the public id for the whole service, then stores the form. Killed in between, the reservation stays: it
 * takes one of 8·10¹⁷ ids away, and the same form may still be created.
 *
 * @returns false when the public id is taken.
 */
export const createForm = async (
  { forms, publicIds }: FormsCollections,
  form: StoredForm,
): Promise<boolean> => {
  const { publicId: _id, organizationId, formId } = form
  if (!(await publicIds.insert({ _id, organizationId, formId, reserveTime: Date.now() }))) {
    const holder = await publicIds.findOne({ _id })
    if (holder?.formId !== formId || holder.organizationId !== organizationId) return false
  }
  return forms.insert(newFormDocument(form))
}
