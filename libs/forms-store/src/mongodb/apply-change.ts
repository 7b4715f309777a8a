import { randomUUID } from 'node:crypto'
import type { FormPath } from '@fms/contracts'
import {
  conflictIfDuplicate,
  type MongoTransaction,
  type TransactionWrite,
  writeConflict,
} from '@fms/store-kit/mongodb'
import type { Change, FoundForm } from '../changes/change.ts'
import type { IdentifiedRequest } from '../identified-request.ts'
import { limitedGrowth } from '../quota.ts'
import {
  changedFields,
  newDeletionDocument,
  newFormDocument,
  newRevisionDocument,
} from './convert-documents.ts'
import type { EventDocument, FormsCollections, ReplyDocument } from './documents.ts'
import { formById } from './find-form.ts'
import { isLarge, stageImport } from './records/stage-import.ts'
import { addGrowth, type MongoQuota } from './usage.ts'

/** Writes, and how many documents they match if the form is as it was found. */
interface Writes {
  writes: TransactionWrite[]
  matches: number
}

/** See `ChangeEngine.apply`. One transaction: two requests, unless the organization is near its quota. */
export const applyChange = async (
  collections: FormsCollections,
  quota: MongoQuota,
  change: Change,
): Promise<boolean> => {
  const guard = change.ignoresQuota
    ? undefined
    : await quota.guard(change.organizationId, limitedGrowth(change))
  const incarnation = 'insert' in change.form ? randomUUID() : `${change.form.found.incarnation}`
  const history = historyOf(change, incarnation)
  const staged = isLarge(change)
    ? await stageImport(collections, change, incarnation, history)
    : { writes: history, matches: 0 }
  if (!staged) return false
  const work = async (transaction: MongoTransaction) => {
    await guard?.(transaction)
    if (!(await isLater(transaction, change))) return writeConflict
    const { writes, matches } = join([formWrites(change, incarnation), staged, eventWrites(change)])
    const { matched, deleted } = await transaction.write(writes)
    return matched + deleted === matches || writeConflict
  }
  const options = { beforeCommit: change.beforeStoring }
  // Growth without an event may meet that of another change: the next attempt takes another document for it.
  for (let attempts = change.event ? 1 : maxGrowthAttempts; attempts > 0; attempts--) {
    const isStored = await collections.database.transaction(work, options).catch(conflictIfDuplicate)
    if (isStored === true) return true
  }
  return false
}

/** Attempts of a change without an event before its form is read again. */
const maxGrowthAttempts = 5

/** Whether a new form is later than the events of its id, in the snapshot that lacks it. A relay sorts events by time. */
const isLater = async (transaction: MongoTransaction, change: Change): Promise<boolean> => {
  const { form, changeTime } = change
  if (!('insert' in form) || form.insert.hasNewId) return true
  for (const [query, options] of latestEvents(change)) {
    const found = await transaction.find<EventDocument>('events', query, options)
    if (found.some(({ time }) => time >= changeTime.getTime())) return false
  }
  return true
}

/** The reads of the newest numbered event of a form's id, and of the pending ones. Index: events_by_form. */
export const latestEvents = ({ organizationId, formId }: FormPath) =>
  [
    [
      { organizationId, formId, position: { $gt: 0 } },
      { sort: { position: -1 }, limit: 1, fields: ['time'] },
    ],
    [{ organizationId, formId, position: { $gt: '' } }, { fields: ['time'] }],
  ] as const

const join = (parts: readonly Writes[]): Writes => ({
  writes: parts.flatMap(({ writes }) => writes),
  matches: parts.reduce((sum, { matches }) => sum + matches, 0),
})

const unchanged = (found: FoundForm) => ({
  ...formById(found),
  incarnation: found.incarnation,
  changeTime: found.changeTime.getTime(),
})

const formWrites = (change: Change, incarnation: string): Writes => {
  const { form, changeTime } = change
  if ('insert' in form) {
    const { publicId } = form.insert.form
    const { organizationId, formId } = change
    const { deletion } = form.insert
    return {
      writes: [
        { collection: 'forms', insert: newFormDocument(form.insert, incarnation, changeTime) },
        { collection: 'publicIds', insert: { _id: publicId, organizationId, formId } },
        ...(deletion
          ? [{ collection: 'deletions', insert: newDeletionDocument(form.insert.form, deletion) }]
          : []),
      ],
      matches: 0,
    }
  }
  const { found } = form
  const undelete: TransactionWrite = { collection: 'deletions', deleteOne: formById(found) }
  if ('remove' in form) {
    const remains = { _id: incarnation, ...pathOf(change), clearTime: 0, isCounted: true }
    const writes: TransactionWrite[] = [
      { collection: 'forms', deleteOne: unchanged(found) },
      { collection: 'publicIds', deleteOne: { _id: found.publicId } },
      { collection: 'remains', insert: remains },
    ]
    return found.isDeleted ? { writes: [...writes, undelete], matches: 3 } : { writes, matches: 2 }
  }
  const { deletion } = form.set
  const fields = { ...changedFields(form.set), changeTime: changeTime.getTime() }
  const update: TransactionWrite = { collection: 'forms', update: unchanged(found), by: { $set: fields } }
  if (deletion === null) return { writes: [update, undelete], matches: 2 }
  if (!deletion) return { writes: [update], matches: 1 }
  return {
    writes: [update, { collection: 'deletions', insert: newDeletionDocument(found, deletion) }],
    matches: 1,
  }
}

const pathOf = ({ organizationId, formId }: Change) => ({ organizationId, formId })

const historyOf = (change: Change, incarnation: string): TransactionWrite[] => [
  ...(change.revisions ?? []).map((revision) => ({
    collection: 'revisions',
    insert: newRevisionDocument(revision, incarnation),
  })),
  ...(change.replyIds ?? []).map((replyId) => ({
    collection: 'replies',
    insert: { ...pathOf(change), incarnation, replyId } satisfies ReplyDocument,
  })),
]

/** The event with the growth of the change; the growth alone for a change without an event. */
const eventWrites = (change: Change): Writes => {
  const { organizationId, event, growth, changeTime, context } = change
  if (!event) return { writes: [addGrowth(organizationId, growth)], matches: 1 }
  const document: EventDocument = {
    ...pathOf(change),
    _id: eventKey(organizationId, event.id),
    time: changeTime.getTime(),
    event: JSON.stringify(event),
    position: event.id,
    pendingIn: organizationId,
    pendingTime: changeTime.getTime(),
    growth,
    ...(context.request && { request: requestKey(context.request), digest: context.request.digest }),
  }
  return { writes: [{ collection: 'events', insert: document }], matches: 0 }
}

/** The `_id` of an event. Logs of different organizations may have events with the same id. */
export const eventKey = (organizationId: string, id: string): string => `${organizationId}/${id}`

export const requestKey = ({ method, requestId }: IdentifiedRequest): string => `${method}/${requestId}`
