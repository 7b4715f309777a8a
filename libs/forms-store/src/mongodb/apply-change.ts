import { randomUUID } from 'node:crypto'
import type { FormPath } from '@fms/contracts'
import { type MongoTransaction, type TransactionWrite, writeConflict } from '@fms/store-kit/mongodb'
import type { Change, FoundForm } from '../changes/change.ts'
import type { IdentifiedRequest } from '../identified-request.ts'
import { limitedGrowth } from '../quota.ts'
import {
  changedFields,
  newDeletionDocument,
  newFormDocument,
  newRevisionDocument,
} from './convert-documents.ts'
import type { EventDocument, FormsCollections, RemainsDocument, ReplyDocument } from './documents.ts'
import { formById } from './find-form.ts'
import { isLarge, stageImport } from './records/stage-import.ts'
import { addGrowth, type MongoQuota } from './usage.ts'

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
  const staged = isLarge(change) ? await stageImport(collections, change, incarnation, history) : history
  if (!staged) return false
  const work = async (transaction: MongoTransaction) => {
    await guard?.(transaction)
    if (!(await isLater(transaction, change))) return writeConflict
    const writes = [...formWrites(change, incarnation), ...staged, eventWrite(change)]
    const { matched, deleted } = await transaction.write(writes)
    // Each other write finds its document, if the form is as it was found.
    return matched + deleted === writes.filter((write) => !('insert' in write)).length || writeConflict
  }
  const options = { beforeCommit: change.beforeStoring }
  // Growth without an event may meet that of another change: the next attempt takes another document for it.
  for (let attempts = change.event ? 1 : maxGrowthAttempts; attempts > 0; attempts--) {
    const isStored = await collections.database.transaction(work, options)
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

const unchanged = (found: FoundForm) => ({
  ...formById(found),
  incarnation: found.incarnation,
  changeTime: found.changeTime.getTime(),
})

const formWrites = (change: Change, incarnation: string): TransactionWrite[] => {
  const { form, changeTime } = change
  if ('insert' in form) {
    const { publicId } = form.insert.form
    const { organizationId, formId } = change
    const { deletion } = form.insert
    return [
      { collection: 'forms', insert: newFormDocument(form.insert, incarnation, changeTime) },
      { collection: 'publicIds', insert: { _id: publicId, organizationId, formId } },
      ...(deletion
        ? [{ collection: 'deletions', insert: newDeletionDocument(form.insert.form, deletion) }]
        : []),
    ]
  }
  const { found } = form
  const undelete: TransactionWrite = { collection: 'deletions', deleteOne: formById(found) }
  if ('remove' in form) {
    const state = { clearTime: 0, isCounted: true, isBeingCleared: true } as const
    const remains: RemainsDocument = { _id: incarnation, ...pathOf(change), ...state }
    return [
      { collection: 'forms', deleteOne: { ...unchanged(found), replyCount: found.replyCount } },
      { collection: 'publicIds', deleteOne: { _id: found.publicId } },
      { collection: 'remains', insert: remains },
      ...(found.isDeleted ? [undelete] : []),
    ]
  }
  const { deletion } = form.set
  const fields = { ...changedFields(form.set), changeTime: changeTime.getTime() }
  const update: TransactionWrite = { collection: 'forms', update: unchanged(found), by: { $set: fields } }
  if (deletion === null) return [update, undelete]
  if (!deletion) return [update]
  return [update, { collection: 'deletions', insert: newDeletionDocument(found, deletion) }]
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
const eventWrite = (change: Change): TransactionWrite => {
  const { organizationId, event, growth, changeTime, context } = change
  if (!event) return addGrowth(organizationId, growth)
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
  return { collection: 'events', insert: document }
}

/** The `_id` of an event. Logs of different organizations may have events with the same id. */
export const eventKey = (organizationId: string, id: string): string => `${organizationId}/${id}`

export const requestKey = ({ method, requestId }: IdentifiedRequest): string => `${method}/${requestId}`
