import { type FormEvent, type FormPath, parseSequence } from '@fms/contracts'
import { recordDigest, type SqliteDatabase } from '@fms/store-kit'
import { eventConflict } from '../../errors.ts'
import { eventBytesOf, formOfEvent } from '../../events/recorded-event.ts'
import type { Imported } from '../../forms-store.ts'
import type { IdentifiedRequest } from '../../identified-request.ts'
import { addUsage } from '../usage.ts'

/** SQL of the last sequence in the log of a row of `eventLogs`. Index: events_by_sequence. */
export const lastSequence = 'SELECT max(sequence) FROM events WHERE organizationId = eventLogs.organizationId'

/** Runs in a transaction. @param eventAfter gets the last sequence of the log; 0 for an empty one. */
export const appendEvent = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
  eventAfter: (lastSequence: number) => FormEvent,
  request?: IdentifiedRequest,
): void => {
  const event = eventAfter(lastSequenceOf(database, organizationId))
  const sequence = parseSequence(event.sequence)
  const time = Date.parse(event.time)
  const { requestId = null, method = null, digest = null } = request ?? {}
  const ids = { organizationId, sequence, eventId: event.id, formId, time, requestId, method, digest }
  database.insert('events', { ...ids, event: JSON.stringify(event) })
  database.run('INSERT OR IGNORE INTO unstreamedLogs VALUES (?)', organizationId)
  const log = database.get('SELECT oldestTime FROM eventLogs WHERE organizationId = ?', organizationId)
  // A copied log may start later: retention has removed the events before, which were in the stream.
  if (!log) {
    const position = { streamedSequence: sequence - 1, oldestSequence: sequence, oldestTime: time }
    database.insert('eventLogs', { organizationId, ...position })
  } else if (log.oldestTime === null) updateOldestTime(database, organizationId)
}

/** The sequence of the newest event, which is never deleted; 0 for an empty log. Index: events_by_sequence. */
export const lastSequenceOf = (database: SqliteDatabase, organizationId: string): number => {
  const sql = 'SELECT max(sequence) AS lastSequence FROM events WHERE organizationId = ?'
  return (database.get(sql, organizationId)!.lastSequence as number | null) ?? 0
}

/** Updates the oldest event of a log. Runs in a transaction. Index: events_by_sequence. */
export const updateOldestTime = (database: SqliteDatabase, organizationId: string): void => {
  const sql = 'SELECT sequence, time FROM events WHERE organizationId = ? ORDER BY sequence LIMIT 2'
  const [oldest, next] = database.all(sql, organizationId)
  const time = next ? oldest!.time! : null
  const update = 'UPDATE eventLogs SET oldestSequence = ?, oldestTime = ? WHERE organizationId = ?'
  database.run(update, oldest!.sequence!, time, organizationId)
}

/** Stores an event at its position at the end of the log. Runs in a transaction. */
export const importEvent = (database: SqliteDatabase, event: FormEvent): Imported => {
  const form = formOfEvent(event)
  const sequence = parseSequence(event.sequence)
  const sql = 'SELECT event FROM events WHERE organizationId = ? AND (sequence = ? OR eventId = ?)'
  const found = database.get(sql, form.organizationId, sequence, event.id)
  if (found) {
    if (recordDigest(JSON.parse(found.event as string)) !== recordDigest(event)) throw eventConflict(event)
    return 'exists'
  }
  appendEvent(database, form, (lastSequence) => {
    if (lastSequence > 0 && sequence !== lastSequence + 1) throw eventConflict(event)
    return event
  })
  addUsage(database, form.organizationId, { bytes: eventBytesOf(event) })
  return 'imported'
}
