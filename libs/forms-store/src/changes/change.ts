import type { FormEvent, FormPath } from '@fms/contracts'
import {
  type EventFields,
  type EventForm,
  eventBytesOf,
  type RecordedEvent,
  recordedEvent,
} from '../events/recorded-event.ts'
import type { FormSummary, StoredForm, StoredRevision } from '../forms-store.ts'
import type { ChangeContext } from '../identified-request.ts'
import type { Deletion } from './deletion.ts'

export interface LiveState {
  /** The highest number of a revision; 0 for none. */
  revisionNumber: number
  /** The number of the live revision. After an unpublish, the last number that cannot become live. 0 for neither. */
  liveNumber: number
  liveRevisionId: string | null
}

export interface FoundForm extends FormSummary, LiveState {
  /** Size of the draft as JSON in UTF-8. */
  draftBytes: number
  /** Differs from that of an earlier form with the same id. Revisions and replies belong to it. */
  incarnation: string | number
  /** Time of the last change, and of its event. Strictly increases, except for replies: engines compare it. */
  changeTime: Date
  isDeleted: boolean
}

export interface FoundDraft extends FoundForm {
  form: StoredForm
}

/** What a change adds to the `Usage` of its organization; negative when it removes. */
export interface Growth {
  forms: number
  bytes: number
  /** The part of the revisions in `bytes`, and their number. */
  revisionBytes: number
  revisions: number
  eventBytes: number
}

export interface ChangeOrigin {
  context: ChangeContext
  time: Date
  /** A UUID. */
  eventId: string
}

/** A new form, and what an import brings along. */
export interface NewForm extends LiveState {
  form: StoredForm
  deletion?: Deletion | undefined
  /** Whether no form has had this id. Otherwise an engine rejects the change unless it is later than the id's events. */
  hasNewId?: boolean
}

export interface FormFields extends Partial<LiveState> {
  draft?: StoredForm
  /** Marks the form as deleted; `null` restores it. */
  deletion?: Deletion | null
}

/**
 * What a change consists of. An engine applies all of it or nothing, and only if the form is still as it was found: the
 * same incarnation with the same time of its last change, or absent. A form to be removed also needs the same replies.
 */
export interface Change extends FormPath {
  /** `remove` frees the ids, and leaves revisions and replies for {@link ChangeEngine.clearRemains}. */
  form: { insert: NewForm } | { found: FoundForm; set: FormFields } | { found: FoundForm; remove: true }
  changeTime: Date
  /** Revisions to store. An engine rejects the change if another form has one of their commands. */
  revisions?: readonly StoredRevision[]
  replyIds?: readonly string[]
  growth: Growth
  /** Whether the growth may exceed the quota, as an import does. */
  ignoresQuota?: boolean
  /** Absent for a change without an event: a copy of a form. */
  event?: RecordedEvent
  context: ChangeContext
  /** Called immediately before the change is stored, with all locks held. An error of it leaves nothing behind. */
  beforeStoring?: (() => void) | undefined
}

/** The growth with some parts, and 0 for the others. @param parts `bytes` without those of the event. */
export const growthOf = (
  parts: Partial<Omit<Growth, 'eventBytes'>>,
  event?: RecordedEvent | FormEvent,
): Growth => {
  const eventBytes = event ? eventBytesOf(event) : 0
  const bytes = (parts.bytes ?? 0) + eventBytes
  return { forms: 0, revisionBytes: 0, revisions: 0, ...parts, bytes, eventBytes }
}

export const growthOfRevisions = (revisions: readonly Pick<StoredRevision, 'formJson'>[]): Growth => {
  const bytes = revisions.reduce((sum, { formJson }) => sum + Buffer.byteLength(formJson), 0)
  return growthOf({ bytes, revisionBytes: bytes, revisions: revisions.length })
}

/** What the event of a change says beside the form and the origin. */
interface EventParts extends Omit<EventFields, 'time' | 'lastTime'> {
  /** Default: the time of the origin. */
  time?: Date | undefined
}

/** The event of a change, and the time of both. @param lastTime of the last change of the form's id. */
export const stamp = (
  form: EventForm,
  lastTime: Date,
  { time, ...parts }: EventParts,
  { context, time: now, eventId }: ChangeOrigin,
) => {
  const event = recordedEvent(form, { ...parts, time: time ?? now, lastTime }, context, eventId)
  return { event, context, changeTime: new Date(event.time) }
}

export const changeOf = (
  found: FoundForm,
  fields: Pick<Change, 'revisions' | 'beforeStoring'> & {
    form: { set: FormFields } | { remove: true }
    growth?: Partial<Growth>
    event: EventParts
  },
  origin: ChangeOrigin,
): Change => {
  const { form, growth, event, ...rest } = fields
  const { organizationId, formId, changeTime } = found
  const stamped = stamp(event.after ?? found, changeTime, event, origin)
  return {
    ...rest,
    organizationId,
    formId,
    form: { found, ...form },
    growth: growthOf(growth ?? {}, stamped.event),
    ...stamped,
  }
}
