import { type FormEvent, type FormPath, parseSequence } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import {
  type ChangeContext,
  type EventFields,
  type EventForm,
  recordedEvent,
  withSequence,
} from '../../events/recorded-event.ts'
import type { IdentifiedRequest } from '../../requests/identified-request.ts'

/** Records the event of a change. Runs in the transaction of the change. */
export type RecordEvent = (form: EventForm, fields: Omit<EventFields, 'lastTime'>) => void

/** What a change needs to record its event and to be carried out once. */
export interface Recording {
  record: RecordEvent
  /**
   * Runs in the transaction of the change, before any other statement; outside of one, after the form is read.
   *
   * @throws as `checkRequest`.
   */
  checkRequest: () => void
}

/** Appends the event of a change to the log of its organization. Runs in a transaction. */
export const recordEvent = (
  database: SqliteDatabase,
  form: EventForm,
  fields: Omit<EventFields, 'lastTime'>,
  context: ChangeContext,
): void => {
  const lastTime = lastTimeOf(database, form)
  const event = recordedEvent(form, { ...fields, lastTime }, context)
  const eventAfter = (lastSequence: number) => withSequence(event, lastSequence + 1)
  appendEvent(database, form, eventAfter, context.request)
}

/** The time of a form's newest event, in milliseconds since the epoch; 0 for none. Index: events_by_form. */
const lastTimeOf = (database: SqliteDatabase, { organizationId, formId }: FormPath): number => {
  const sql = 'SELECT time FROM events WHERE organizationId = ? AND formId = ? ORDER BY sequence DESC LIMIT 1'
  return (database.get(sql, organizationId, formId)?.time as number | undefined) ?? 0
}

/**
 * Appends an event to the log of its organization. Runs in a transaction.
 *
 * @param eventAfter returns the event for the last sequence of the log, which is 0 for an empty log.
 * @param request the request of the change, which is remembered with the event.
 */
export const appendEvent = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
  eventAfter: (lastSequence: number) => FormEvent,
  request?: IdentifiedRequest,
): void => {
  const event = eventAfter(lastSequenceOf(database, organizationId))
  const sequence = parseSequence(event.sequence)
  const time = Date.parse(event.time)
  const row = { organizationId, sequence, eventId: event.id, formId, time, event: JSON.stringify(event) }
  database.insert('events', request ? { ...row, ...requestColumns(request) } : row)
  database.run('INSERT OR IGNORE INTO unstreamedLogs VALUES (?)', organizationId)
  const log = database.get('SELECT oldestTime FROM eventLogs WHERE organizationId = ?', organizationId)
  // A copied log may start later: retention has removed the events before, which were in the stream.
  if (!log) database.insert('eventLogs', { organizationId, streamedSequence: sequence - 1, oldestTime: time })
  else if (log.oldestTime === null) noteOldestTime(database, organizationId)
}

const requestColumns = ({ requestId, method, digest }: IdentifiedRequest): Row => ({
  requestId,
  method,
  digest,
})

/** The sequence of the newest event, which is never deleted; 0 for an empty log. Index: events_by_sequence. */
export const lastSequenceOf = (database: SqliteDatabase, organizationId: string): number => {
  const sql = 'SELECT max(sequence) AS lastSequence FROM events WHERE organizationId = ?'
  return (database.get(sql, organizationId)!.lastSequence as number | null) ?? 0
}

/** Notes the time of the oldest event of a log. Runs in a transaction. Index: events_by_sequence. */
export const noteOldestTime = (database: SqliteDatabase, organizationId: string): void => {
  const sql = 'SELECT time FROM events WHERE organizationId = ? ORDER BY sequence LIMIT 2'
  const [oldest, next] = database.all(sql, organizationId)
  const time = next ? oldest!.time! : null
  database.run('UPDATE eventLogs SET oldestTime = ? WHERE organizationId = ?', time, organizationId)
}
