import { type FormEvent, parseSequence } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import {
  type ChangeContext,
  type EventFields,
  type EventForm,
  recordedEvent,
  withSequence,
} from '../../events/recorded-event.ts'

/** Records the event of a change. Runs in the transaction of the change. */
export type RecordEvent = (form: EventForm, fields: Omit<EventFields, 'lastTime'>) => void

/** Appends the event of a change to the log of its organization. Runs in a transaction. */
export const recordEvent = (
  database: SqliteDatabase,
  form: EventForm,
  fields: Omit<EventFields, 'lastTime'>,
  context: ChangeContext,
): void => {
  const { organizationId, formId } = form
  const lastTime = lastTimeOf(database, organizationId, formId)
  const event = recordedEvent(form, { ...fields, lastTime }, context)
  appendEvent(database, organizationId, formId, (lastSequence) => withSequence(event, lastSequence + 1))
}

/** The time of a form's newest event, in milliseconds since the epoch; 0 for none. Index: events_by_form. */
const lastTimeOf = (database: SqliteDatabase, organizationId: string, formId: string): number => {
  const sql = 'SELECT time FROM events WHERE organizationId = ? AND formId = ? ORDER BY sequence DESC LIMIT 1'
  return (database.get(sql, organizationId, formId)?.time as number | undefined) ?? 0
}

/**
 * Appends an event to the log of its organization. Runs in a transaction.
 *
 * @param eventAfter the event that follows the last sequence of the log; 0 for an empty log.
 */
export const appendEvent = (
  database: SqliteDatabase,
  organizationId: string,
  formId: string,
  eventAfter: (lastSequence: number) => FormEvent,
): void => {
  const log = database.get(
    'SELECT lastSequence, oldestTime FROM eventLogs WHERE organizationId = ?',
    organizationId,
  )
  const event = eventAfter((log?.lastSequence as number | undefined) ?? 0)
  const sequence = parseSequence(event.sequence)
  const time = Date.parse(event.time)
  const row = { organizationId, sequence, eventId: event.id, formId, time, event: JSON.stringify(event) }
  database.insert('events', row)
  if (!log) startLog(database, organizationId, sequence, time)
  else {
    database.run('UPDATE eventLogs SET lastSequence = ? WHERE organizationId = ?', sequence, organizationId)
    if (log.oldestTime === null) noteOldestEvent(database, organizationId)
  }
}

/** A copied log may start with a later event than the first: retention has removed those before, which were streamed. */
const startLog = (database: SqliteDatabase, organizationId: string, sequence: number, time: number): void => {
  database.insert('eventLogs', {
    organizationId,
    oldestSequence: sequence,
    lastSequence: sequence,
    streamedSequence: sequence - 1,
    oldestTime: time,
  })
}

/** Notes which event of a log is the oldest. Runs in a transaction. */
export const noteOldestEvent = (database: SqliteDatabase, organizationId: string): void => {
  const sql = `
    UPDATE eventLogs SET oldestSequence = oldest.sequence,
      oldestTime = CASE WHEN oldest.sequence < lastSequence THEN oldest.time END
    FROM (SELECT sequence, time FROM events WHERE organizationId = ? ORDER BY sequence LIMIT 1) AS oldest
    WHERE organizationId = ?`
  database.run(sql, organizationId, organizationId)
}
