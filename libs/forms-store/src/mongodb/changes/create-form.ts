import { randomUUID } from 'node:crypto'
import type { Quota, StoredForm } from '../../forms-store.ts'
import { type FormsCollections, incarnationOf, newFormDocument } from '../documents.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { countWrite } from '../usage.ts'
import { release, reserve } from './reservations.ts'

/**
 * Reserves the public id in the whole service, then stores the form in a new incarnation. A crash in between leaves the
 * reservation: it uses up one of 8·10¹⁷ ids, and the same form can still be created.
 *
 * @returns false when the public id or the form's id is taken.
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const createForm = async (
  collections: FormsCollections,
  quota: Quota,
  form: StoredForm,
  { context, onRecorded }: ChangeRecorder,
): Promise<boolean> => {
  const { forms, publicIds } = collections
  const document = newFormDocument(form, randomUUID())
  const event = { type: 'form.created', after: form, time: form.createTime } as const
  const incarnation = incarnationOf(document)
  const growth = { forms: 1, bytes: Buffer.byteLength(form.draftJson) }
  const write = async () => {
    const reservation = await reserve(publicIds, form.publicId, incarnation)
    if (typeof reservation !== 'string') return false
    const isStored = await forms.insert({ ...document, ...recordEvent(document, event, context) })
    if (!isStored) await release(publicIds, form.publicId, incarnation)
    return isStored
  }
  const isCreated = await countWrite(collections, quota, form.organizationId, growth, write, incarnation)
  if (isCreated) onRecorded(form.organizationId, 'form.created')
  return isCreated
}
