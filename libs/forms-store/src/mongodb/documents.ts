import type { FormPath } from '@fms/contracts'
import type { MongoDatabase } from '@fms/store-kit/mongodb'
import type { Growth } from '../changes/change.ts'
import type { DeletedFormRow, FormRow, RevisionRow } from '../stored-rows.ts'

/** A form, deleted or not. Times are milliseconds since the epoch. Fields of filters and orders are copied out of the draft. */
export interface FormDocument extends Omit<FormRow, 'formId'> {
  /** The organization and the form's id: see `documentIdOf`. */
  _id: string
  /** A UUID that is new with each create and import. Revisions and replies belong to an incarnation. */
  incarnation: string
  /** Whether the form is in `deletions`. All indexes of lists begin with the organization and this field. */
  isDeleted: boolean
  foldedName: string
  /** Runs of three code points of `foldedName`. */
  nameTrigrams: string[]
  aiHandoff: boolean
  /** JSON text, because member names of a draft may contain dots and dollar signs. */
  draft: string
}

/** A deleted form that can be restored. */
export interface DeletionDocument extends Omit<DeletedFormRow, 'formId'> {
  _id: string
}

/** What belongs to an incarnation of a form. */
export interface Incarnation extends FormPath {
  incarnation: string
}

export interface RevisionDocument extends Incarnation, RevisionRow {
  _id?: unknown
  /** Size of the form in UTF-8. */
  bytes: number
}

export interface ReplyDocument extends Incarnation {
  _id?: unknown
  replyId: string
}

/** The form that has a public id. `_id` is also the shard key, so that public ids are unique over all shards. */
export interface PublicIdDocument extends FormPath {
  _id: string
}

/** An event: the change inserts it, and a relay numbers it later (docs/decisions/0031-number-events-later.md). */
export interface EventDocument extends FormPath {
  /** The organization and the event's id: see `eventKey`. */
  _id: string
  time: number
  /** The event without its sequence, as JSON text. */
  event: string
  /** The sequence; the event's id until it is numbered. Queries for numbers find no strings. */
  position: number | string
  /** The organization and the time, until the event is numbered. */
  pendingIn?: string
  pendingTime?: number
  growth: Growth
  /** The sum of the growth of all events up to this one. Absent until the event is numbered. */
  total?: Growth
  /** The method and `requestId` of the change, and the digest of its parameters. */
  request?: string
  digest?: string
}

/** How far the log of an organization is in the stream. */
export interface EventLogDocument {
  /** The organization's id. */
  _id: string
  organizationId: string
  /** The last sequence that a relay has begun to assign. */
  announcedSequence: number
  streamedSequence: number
  /** The last sequence that retention has deleted; 0 for none. */
  prunedSequence: number
  /** The number of events that are in the stream: `streamedSequence` without `prunedSequence`. Absent before the first one. */
  streamedEvents?: number
  /** Present while the stream lacks events. */
  isBehind?: true
  /** The time of the oldest event. Absent once retention has left only the newest. */
  oldestTime?: number
  /** The revisions that the events have added. For metrics: read `total` of the newest event for the exact number. */
  revisions: number
  revisionBytes: number
}

/** Growth without an event (copies of forms, what was cleared or pruned), or the guard of a quota: see `usage.ts`. */
export interface GrowthDocument {
  /** The organization's id, with the number of a slot for growth. */
  _id: string
  organizationId: string
  growth?: Omit<Growth, 'eventBytes'>
  /** Incremented by changes near a quota, so that they exclude each other. */
  guarded?: number
}

/** An incarnation without a form: one that was removed for good, or one whose large import is in progress. */
export interface RemainsDocument extends FormPath {
  /** The incarnation. */
  _id: string
  /** When to clear it, in milliseconds since the epoch: 0 for a removed one, whichever clock its process had. */
  clearTime: number
  /** Whether the usage includes the revisions. False for an import in progress. */
  isCounted: boolean
  /** Set by the first batch that is cleared: an import stores no more, and cannot become visible any more. */
  isBeingCleared?: true
}

export const formsCollections = (database: MongoDatabase) => ({
  database,
  forms: database.collection<FormDocument>('forms'),
  deletions: database.collection<DeletionDocument>('deletions'),
  revisions: database.collection<RevisionDocument>('revisions'),
  replies: database.collection<ReplyDocument>('replies'),
  publicIds: database.collection<PublicIdDocument>('publicIds'),
  events: database.collection<EventDocument>('events'),
  eventLogs: database.collection<EventLogDocument>('eventLogs'),
  growth: database.collection<GrowthDocument>('growth'),
  remains: database.collection<RemainsDocument>('remains'),
})
export type FormsCollections = ReturnType<typeof formsCollections>
