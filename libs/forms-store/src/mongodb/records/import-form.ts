import { randomUUID } from 'node:crypto'
import type { ApiError } from '@fms/aip'
import type { FormPath, FormRecord } from '@fms/contracts'
import { type Deletion, fromDeletionRecord, importChange } from '../../deletions/deletion.ts'
import { formConflict } from '../../errors.ts'
import { type ChangeContext, operatorContext } from '../../events/recorded-event.ts'
import type { Imported } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { assertSameRecord, fromFormRecord, revisionStateOf, revisionsOf } from '../../stored-form-record.ts'
import { maxRecentReplies } from '../changes/add-replies.ts'
import { clearIncarnation } from '../changes/clear-deletions.ts'
import { deleteIfDuplicate } from '../changes/delete-if-duplicate.ts'
import { insertForm } from '../changes/insert-form.ts'
import { reserve, reserveCommand } from '../changes/reservations.ts'
import { newFormDocument, newRevisionDocument, toStoredForm } from '../convert-documents.ts'
import type { DeletionDocument, FormDocument, FormsCollections, Incarnation } from '../documents.ts'
import {
  alwaysDue,
  type ChangeRecorder,
  nextEvents,
  pendingFields,
  recordEvent,
} from '../events/record-event.ts'
import { formById, formByIdEach, incarnationOf, isKept } from '../form-queries.ts'
import { addUsage, countWrite, readUsage } from '../usage.ts'
import { readDeletedRecord, readRecord } from './export-forms.ts'

/** How many inserts are in flight, and how many ids are in one query. */
const batchSize = 50

/**
 * After this time an import without a form counts as killed, and what it stored is deleted. No import takes this long.
 */
const importLimitMs = 24 * 60 * 60_000

/**
 * Stores a form in a new incarnation: first a note in `deletions`, then its ids, revisions and replies, which are
 * invisible without the form, and then the form. A repeat after a kill starts again: nothing that an earlier import
 * stored becomes visible, and the clearing that the earlier note causes deletes it.
 *
 * @param recorder records `form.imported`; undefined for an import without an event.
 */
export const importForm = async (
  collections: FormsCollections,
  record: FormRecord,
  recorder: ChangeRecorder | undefined,
): Promise<Imported> => {
  const stored = await readStored(collections, record)
  if (stored) {
    const outcome = assertSameRecord(stored, record)
    return (await confirmRecord(collections, record)) ? outcome : importForm(collections, record, recorder)
  }

  const { deletions } = collections
  const { organizationId, formId, publicId } = record
  const incarnation = { organizationId, formId, incarnation: randomUUID() }
  const [_id, beginTime] = [randomUUID(), Date.now()]
  const clearTime = beginTime + importLimitMs
  const note = { _id, ...incarnation, publicId, beginTime, clearTime, isCleared: false }
  await deletions.insert(note)
  const conflict = await storeRecord(collections, record, note, recorder)
  if (!conflict) {
    if (!record.deletion) await deletions.deleteOne({ organizationId, _id })
    recorder?.onRecorded(organizationId, 'form.imported')
    return 'imported'
  }
  await clearIncarnation(collections, note)
  if (!(await readStored(collections, record))) throw conflict
  return importForm(collections, record, recorder)
}

/** The record of a form, deleted or not. */
const readStored = async (collections: FormsCollections, form: FormPath): Promise<FormRecord | undefined> =>
  (await readRecord(collections, form)) ?? (await readDeletedRecord(collections, form))

/** Waits until a majority has the form of the record. @returns false when the form has changed since it was read. */
const confirmRecord = async (
  { forms, deletions }: FormsCollections,
  record: FormRecord,
): Promise<boolean> => {
  const { organizationId, formId, version, replyCount, deletion } = record
  if (deletion) {
    return deletions.confirm({ organizationId, formId, deleteTime: Date.parse(deletion.deleteTime) })
  }
  const { liveNumber } = revisionStateOf(record)
  const keys = formByIdEach(record).map((key) => ({ ...key, version, replyCount, liveNumber }))
  return (await forms.confirmEach(keys)) > 0
}

/** @returns FORM_CONFLICT when another form has one of the ids, or the form exists. The form is stored last. */
const storeRecord = async (
  collections: FormsCollections,
  record: FormRecord,
  note: DeletionDocument,
  recorder: ChangeRecorder | undefined,
): Promise<ApiError | undefined> => {
  const { organizationId, formId } = record
  const incarnation = { organizationId, formId, incarnation: note.incarnation }
  const conflict = await reserveIds(collections, record, incarnation)
  if (conflict) return conflict
  await storeRevisions(collections, record, incarnation)
  await storeReplies(collections, record, incarnation)
  const form = {
    ...newFormDocument(fromFormRecord(record), incarnation.incarnation),
    ...revisionStateOf(record),
    recentReplies: record.replyIds.slice(0, maxRecentReplies),
  }
  const isStored = record.deletion
    ? await storeDeleted(collections, form, fromDeletionRecord(record.deletion), note, recorder?.context)
    : await storeForm(collections, form, recorder)
  return isStored ? undefined : formConflict(record, 'formId', formId)
}

/** @returns false if a form with this id exists. */
const storeForm = async (
  collections: FormsCollections,
  form: FormDocument,
  recorder: ChangeRecorder | undefined,
): Promise<boolean> => {
  const recorded = recorder ? recordEvent(form, importChange(toStoredForm(form)), recorder.context) : {}
  const growth = { forms: 1, bytes: form.bytes }
  const insert = () => insertForm(collections, { ...form, ...recorded })
  const own = incarnationOf(form)
  if (!(await countWrite(collections, noQuota, form.organizationId, growth, insert, own))) return false
  return !(await deleteIfDuplicate(collections, own, recorder ?? unannounced))
}

const unannounced: ChangeRecorder = { context: operatorContext, onRecorded: () => {} }

/** Makes the note of the import that of a delete which can be undone. @returns false if a form with this id exists. */
const storeDeleted = async (
  collections: FormsCollections,
  form: FormDocument,
  deletion: Deletion,
  { _id, organizationId, clearTime }: DeletionDocument,
  context: ChangeContext | undefined,
): Promise<boolean> => {
  const { deletions, forms } = collections
  if (await forms.has(formById(incarnationOf(form)))) return false
  const { bytes } = form
  const deleteTime = deletion.deleteTime.getTime()
  const purgeTime = deletion.purgeTime.getTime()
  const event = context && nextEvents(form, importChange(toStoredForm(form), deletion), context)
  await addUsage(collections, organizationId, { forms: 0, bytes })
  return deletions.set(
    { organizationId, _id, clearTime },
    {
      form,
      bytes,
      deleteTime,
      purgeTime,
      deleter: deletion.deleter,
      clearTime: purgeTime,
      eventNumber: 0,
      isConfirmed: true,
      ...pendingFields(event ?? []),
      collectTime: event ? alwaysDue : 0,
    },
  )
}

/** Reserves the public id and the commands, and checks the ids of revisions. @returns the first conflict. */
const reserveIds = async (
  collections: FormsCollections,
  record: FormRecord,
  incarnation: Incarnation,
): Promise<ApiError | undefined> => {
  const { publicId } = record
  const reservation = await reserve(collections.publicIds, publicId, incarnation)
  if (typeof reservation !== 'string') return formConflict(record, 'publicId', publicId)
  for (const revisions of batches(record.revisions)) {
    const ids = revisions.map(({ revisionId }) => revisionId)
    const taken = await findTakenRevision(collections, record.organizationId, ids)
    if (taken) return formConflict(record, 'revisionId', taken)
    const commandIds = revisions.map(({ commandId }) => commandId)
    const reserved = await Promise.all(commandIds.map((id) => reserveCommand(collections, id, incarnation)))
    const index = reserved.indexOf('elsewhere')
    if (index >= 0) return formConflict(record, 'commandId', commandIds[index]!)
  }
  return undefined
}

/** The first of these revisions that an existing form of the organization has. Index: revisions_by_id. */
const findTakenRevision = async (
  collections: FormsCollections,
  organizationId: string,
  revisionIds: string[],
): Promise<string | undefined> => {
  const query = { organizationId, revisionId: { $in: revisionIds } }
  const fields = ['organizationId', 'formId', 'incarnation', 'revisionId']
  for (const found of await Array.fromAsync(collections.revisions.find(query, { fields }))) {
    if (await isKept(collections, found, [found.incarnation])) return found.revisionId
  }
  return undefined
}

/** Counts the bytes of the revisions first, so that usage is never too low. */
const storeRevisions = async (
  collections: FormsCollections,
  record: FormRecord,
  { incarnation }: Incarnation,
): Promise<void> => {
  const revisions = revisionsOf(record).map((revision) => newRevisionDocument(revision, incarnation))
  const bytes = revisions.reduce((sum, revision) => sum + revision.bytes, 0)
  // Creates the usage document if there is none: a first count after this would miss the revisions.
  await readUsage(collections, record.organizationId)
  await addUsage(collections, record.organizationId, { forms: 0, bytes, revisions: revisions.length })
  for (const batch of batches(revisions)) await collections.revisions.insertAll(batch)
}

const storeReplies = async (
  { replies }: FormsCollections,
  record: FormRecord,
  incarnation: Incarnation,
): Promise<void> => {
  for (const batch of batches(record.replyIds.slice(maxRecentReplies))) {
    await replies.insertAll(batch.map((replyId) => ({ ...incarnation, replyId })))
  }
}

function* batches<T>(items: readonly T[]): Generator<T[]> {
  for (let first = 0; first < items.length; first += batchSize) yield items.slice(first, first + batchSize)
}
