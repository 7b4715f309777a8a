import type { EventType } from '@fms/contracts'
import {
  type ChangeContext,
  type EventFields,
  type RecordedEvent,
  recordedEvent,
} from '../../events/recorded-event.ts'
import { toFormState } from '../convert-documents.ts'
import type { FormDocument, PendingEvent } from '../documents.ts'
import type { RequestInProgress } from '../request-ids/request-in-progress.ts'

/** Maximum number of pending events in a form. The next change moves them to the log before it adds its own. */
export const maxPendingEvents = 64

/** The `collectTime` of a note that the next collection examines: a time that has passed by every clock. */
export const alwaysDue = 1

/** Who makes a change, and what to call once the event of the change is recorded. */
export interface ChangeRecorder {
  context: ChangeContext
  onRecorded: (organizationId: string, type: EventType) => void
  /** Present while a change with a `requestId` is carried out. */
  request?: RequestInProgress
}

/** The parts of an event beside the form and the context. */
export type MongoEventFields = Omit<EventFields, 'lastTime'> & {
  /** The event's id. Default: a new one. */
  id?: string
}

/** Whether the form has no room for another event: see {@link maxPendingEvents}. */
export const isFull = ({ pendingEvents = [] }: FormDocument): boolean =>
  pendingEvents.length >= maxPendingEvents

/** The pending events of a form, followed by a new one. */
export const nextEvents = (
  form: FormDocument,
  { id, ...fields }: MongoEventFields,
  context: ChangeContext,
): PendingEvent[] => {
  const { name, eventNumber = 0, eventTime: lastTime = 0, pendingEvents = [] } = form
  const event = recordedEvent({ ...toFormState(form), name }, { ...fields, lastTime }, context, id)
  return [...pendingEvents, toPendingEvent(event, eventNumber + 1)]
}

/** The fields of a form that record the event of a change. Set them together with the change. */
export const recordEvent = (
  form: FormDocument,
  fields: MongoEventFields,
  context: ChangeContext,
): Partial<FormDocument> => {
  // The event has the form's name after the change.
  const named = { ...form, name: fields.after?.name ?? form.name }
  const pendingEvents = nextEvents(named, fields, context)
  const { number: eventNumber, time: eventTime } = pendingEvents.at(-1)!
  return { eventNumber, eventTime, ...pendingFields(pendingEvents) }
}

/** The fields of a form, or of a note, that has these events pending. */
export const pendingFields = (pendingEvents: PendingEvent[]) => ({
  pendingEvents,
  pendingCount: pendingEvents.length,
  pendingTime: pendingEvents[0]?.time ?? 0,
})

const toPendingEvent = (event: RecordedEvent, number: number): PendingEvent => ({
  id: event.id,
  number,
  time: Date.parse(event.time),
  event: JSON.stringify(event),
})
