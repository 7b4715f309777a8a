import { randomUUID } from 'node:crypto'
import type { ApiError } from '@fms/aip'
import type { FormRecord } from '@fms/contracts'
import { formConflict } from '../../errors.ts'
import type { ChangeContext } from '../../events/recorded-event.ts'
import type { Imported } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { assertSameRecord, fromFormRecord, revisionStateOf, revisionsOf } from '../../stored-form-record.ts'
import { clearIncarnation } from '../changes/clear-deletions.ts'
import { maxRecentReplies } from '../changes/record-replies.ts'
import { reserve, reserveCommand } from '../changes/reservations.ts'
import {
  type FormsCollections,
  type Incarnation,
  isAlive,
  newFormDocument,
  newRevisionDocument,
} from '../documents.ts'
import { type ChangeRecorder, recordEvent } from '../events/record-event.ts'
import { addUsage, countWrite, readUsage } from '../usage.ts'
import { readRecord } from './export-forms.ts'

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
  const stored = await readRecord(collections, record)
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
  const conflict = await storeRecord(collections, record, incarnation, recorder?.context)
  if (!conflict) {
    await deletions.deleteOne({ organizationId, _id })
    recorder?.onRecorded(organizationId, 'form.imported')
    return 'imported'
  }
  await clearIncarnation(collections, note)
  if (!(await readRecord(collections, record))) throw conflict
  return importForm(collections, record, recorder)
}

/** Waits until a majority has the form of the record. @returns false when the form has changed since it was read. */
const confirmRecord = ({ forms }: FormsCollections, record: FormRecord): Promise<boolean> => {
  const { organizationId, formId: _id, version, replyCount } = record
  const { liveNumber } = revisionStateOf(record)
  return forms.confirm({ organizationId, _id, version, replyCount, liveNumber })
}

/** @returns FORM_CONFLICT when another form has one of the ids, or the form exists. The form is stored last. */
const storeRecord = async (
  collections: FormsCollections,
  record: FormRecord,
  incarnation: Incarnation,
  context: ChangeContext | undefined,
): Promise<ApiError | undefined> => {
  const conflict = await reserveIds(collections, record, incarnation)
  if (conflict) return conflict
  await storeRevisions(collections, record, incarnation)
  await storeReplies(collections, record, incarnation)
  const form = {
    ...newFormDocument(fromFormRecord(record), incarnation.incarnation),
    ...revisionStateOf(record),
    recentReplies: record.replyIds.slice(0, maxRecentReplies),
  }
  const event = { type: 'form.imported', after: fromFormRecord(record), time: new Date() } as const
  const recorded = context ? recordEvent(form, event, context) : {}
  const growth = { forms: 1, bytes: form.bytes }
  const insert = () => collections.forms.insert({ ...form, ...recorded })
  const { organizationId, formId } = record
  const isStored = await countWrite(collections, noQuota, organizationId, growth, insert, incarnation)
  return isStored ? undefined : formConflict(record, 'formId', formId)
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
    if (await isAlive(collections, found)) return found.revisionId
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
