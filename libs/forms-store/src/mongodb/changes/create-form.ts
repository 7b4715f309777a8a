import { randomUUID } from 'node:crypto'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { formIdTaken, updateAborted } from '../../errors.ts'
import type { CreateOptions, Quota, StoredForm } from '../../forms-store.ts'
import { newFormDocument } from '../convert-documents.ts'
import type { FormsCollections } from '../documents.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { documentIdInOrganization, formById, incarnationOf, isKept } from '../form-queries.ts'
import { sendChange } from '../request-ids/request-in-progress.ts'
import { countWrite } from '../usage.ts'
import { deleteIfDuplicate } from './delete-if-duplicate.ts'
import { insertForm, removeIfLate } from './insert-form.ts'
import { release, reserve } from './reservations.ts'

/**
 * Reserves the public id in the whole service, then stores the form in a new incarnation. A crash in between leaves the
 * reservation: it uses up one of 8·10¹⁷ ids, and the same form can still be created.
 *
 * @returns undefined when the public id is taken. The form has the ids that the first attempt of a request has reserved.
 * @throws {ApiError} QUOTA_EXCEEDED; FORM_ID_TAKEN.
 * @throws {RequestReplay}
 */
export const createForm = (
  collections: FormsCollections,
  quota: Quota,
  form: StoredForm,
  recorder: ChangeRecorder,
  options: CreateOptions = {},
): Promise<StoredForm | undefined> => {
  const { organizationId, formId: formRef } = form
  return retryOnConflict(
    () => attemptCreate(collections, quota, form, recorder, options),
    () => updateAborted({ organizationId, formRef }),
  )
}

const attemptCreate = async (
  collections: FormsCollections,
  quota: Quota,
  given: StoredForm,
  recorder: ChangeRecorder,
  { hasClientId = false }: CreateOptions,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const { request } = recorder
  const { formId, publicId } = given
  const newIds = { formId, publicId, incarnation: randomUUID() }
  const ids = (await request?.recognizeCreate(newIds)) ?? newIds
  if (ids === writeConflict) return writeConflict
  const form = { ...given, formId: ids.formId, publicId: ids.publicId }
  const conflict = hasClientId && (await checkFormId(collections, form, ids.incarnation))
  if (conflict) return conflict
  const outcome = await storeForm(collections, quota, form, ids.incarnation, recorder, hasClientId)
  if (outcome === 'stored') {
    const own = { ...ids, organizationId: form.organizationId }
    if (hasClientId && (await deleteIfDuplicate(collections, own, recorder))) throw formIdTaken(form, false)
    recorder.onRecorded(form.organizationId, 'form.created')
    return form
  }
  if (outcome === 'late') return request!.replay()
  if (outcome === 'formId taken') {
    // Another attempt of the request has stored the form.
    if (await isKept(collections, form, [ids.incarnation])) return writeConflict
    await release(collections.publicIds, form.publicId, { ...form, incarnation: ids.incarnation })
    throw formIdTaken(form, false)
  }
  await request?.discard()
  return undefined
}

/**
 * @returns `writeConflict` when another attempt of the request has stored the form.
 * @throws {ApiError} FORM_ID_TAKEN when the organization has a form with this id, deleted or not.
 */
const checkFormId = async (
  { forms, deletions }: FormsCollections,
  form: StoredForm,
  incarnation: string,
): Promise<undefined | typeof writeConflict> => {
  const { organizationId, formId } = form
  const found = await forms.findOne(formById(form), ['incarnation'])
  // Unconfirmed ones, too: a delete notes the form before it removes it.
  const notes = { organizationId, formId, purgeTime: { $gt: 0 } }
  const holder = found ?? (await deletions.findOne(notes, ['incarnation']))
  if (holder && holder.incarnation !== incarnation) throw formIdTaken(form, !found)
  return holder && writeConflict
}

type Outcome = 'stored' | 'late' | 'publicId taken' | 'formId taken'

const storeForm = async (
  collections: FormsCollections,
  quota: Quota,
  form: StoredForm,
  incarnation: string,
  recorder: ChangeRecorder,
  hasClientId: boolean,
): Promise<Outcome> => {
  const { publicIds } = collections
  const plain = newFormDocument(form, incarnation)
  const document = hasClientId ? { ...plain, _id: documentIdInOrganization(form) } : plain
  const event = {
    type: 'form.created',
    after: form,
    time: form.createTime,
    ...recorder.request?.eventFields,
  } as const
  const recorded = { ...document, ...recordEvent(document, event, recorder.context) }
  const noted = incarnationOf(document)
  const growth = { forms: 1, bytes: Buffer.byteLength(form.draftJson) }
  let outcome: Outcome = 'stored'
  await countWrite(
    collections,
    quota,
    form.organizationId,
    growth,
    async () => {
      const reservation = await reserve(publicIds, form.publicId, noted)
      if (typeof reservation !== 'string') outcome = 'publicId taken'
      else if (!(await sendChange(recorder, () => insertForm(collections, recorded))))
        outcome = 'formId taken'
      else if (recorder.request && (await removeIfLate(collections, recorded))) outcome = 'late'
      return outcome === 'stored'
    },
    noted,
  )
  return outcome
}
