import { randomUUID } from 'node:crypto'
import type { Quota, StoredForm } from '../../forms-store.ts'
import { type FormsCollections, newFormDocument } from '../documents.ts'
import { countWrite } from '../usage.ts'
import { clearFormerForm } from './clear-deletions.ts'

/**
 * Reserves the public id in the whole service, then stores the form. A crash in between leaves the reservation: it uses
 * up one of 8·10¹⁷ ids, and the same form can still be created.
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
  const incarnation = randomUUID()
  const write = async () => {
    await clearFormerForm(collections, form)
    return (
      (await reservePublicId(collections, form)) &&
      collections.forms.insert(newFormDocument(form, incarnation))
    )
  }
  return countWrite(collections, quota, form.organizationId, growth, write, {
    formId: form.formId,
    incarnation,
  })
}

/** Idempotent for the same form. @returns false when another form has the public id. */
export const reservePublicId = async (
  { publicIds }: FormsCollections,
  { publicId: _id, organizationId, formId }: Pick<StoredForm, 'organizationId' | 'formId' | 'publicId'>,
): Promise<boolean> => {
  if (await publicIds.insert({ _id, organizationId, formId, reserveTime: Date.now() })) return true
  const holder = await publicIds.findOne({ _id })
  return holder?.formId === formId && holder.organizationId === organizationId
}
