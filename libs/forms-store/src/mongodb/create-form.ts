import type { Quota, StoredForm } from '../forms-store.ts'
import { clearFormerForm } from './clear-deletions.ts'
import { type FormsCollections, newFormDocument } from './documents.ts'
import { countWrite } from './usage.ts'

/**
 * Reserves the public id for the whole service, then stores the form. Killed in between, the reservation stays: it
 * takes one of 8·10¹⁷ ids away, and the same form may still be created.
 *
 * @returns false when the public id is taken.
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const createForm = async (
  collections: FormsCollections,
  quota: Quota,
  form: StoredForm,
): Promise<boolean> => {
  const growth = { forms: 1, bytes: Buffer.byteLength(form.draftJson) }
  return countWrite(collections, quota, form.organizationId, growth, async () => {
    await clearFormerForm(collections, form)
    return (await reservePublicId(collections, form)) && collections.forms.insert(newFormDocument(form))
  })
}

/** @returns false when another form has the public id; may be repeated for the same one. */
export const reservePublicId = async (
  { publicIds }: FormsCollections,
  { publicId: _id, organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId' | 'publicId'>,
): Promise<boolean> => {
  if (await publicIds.insert({ _id, organizationId, formId, reserveTime: Date.now() })) return true
  const holder = await publicIds.findOne({ _id })
  return holder?.formId === formId && holder.organizationId === organizationId
}
