import type { FormEvent } from '@fms/contracts'
import { type Row, readInPages, type SqliteDatabase } from '@fms/store-kit'
import type { EventLog, UnstreamedLog } from '../../events/event-log.ts'
import { retention } from '../../events/retention.ts'
import { importEvent, lastSequence, lastSequenceOf } from './append-event.ts'
import { pruneEvents } from './prune-events.ts'

const maxCountedLogs = 500

/** The logs of events in a forms file. Changes append to them in their own transactions: see `appendEvent`. */
export const sqliteEventLog = (database: SqliteDatabase): EventLog => ({
  /** Indexes: events_by_sequence, events_by_form. */
  read: async ({ organizationId, formId, from = 1, to = Number.MAX_SAFE_INTEGER, descending, limit }) => {
    // SQLite would read the events of all forms: it estimates that a range of sequences has few.
    const ofForm = formId === undefined ? 'WHERE' : 'INDEXED BY events_by_form WHERE formId = ? AND'
    const rows = database.all(
      `SELECT event FROM events ${ofForm} organizationId = ? AND sequence >= ? AND sequence <= ?
       ORDER BY sequence ${descending ? 'DESC' : 'ASC'} LIMIT ? + 0`,
      ...(formId === undefined ? [] : [formId]),
      organizationId,
      from,
      to,
      limit,
    )
    return rows.map(toEvent)
  },

  /** Index: events_by_id. */
  async get(organizationId, eventId) {
    const sql = 'SELECT event FROM events WHERE organizationId = ? AND eventId = ?'
    const row = database.get(sql, organizationId, eventId.toLowerCase())
    return row && toEvent(row)
  },

  /** Index: events_by_sequence. */
  async range(organizationId) {
    const sql = `SELECT oldestSequence, (${lastSequence}) AS lastSequence
      FROM eventLogs WHERE organizationId = ?`
    const row = database.get(sql, organizationId)
    return {
      oldestSequence: (row?.oldestSequence as number | undefined) ?? 1,
      lastSequence: (row?.lastSequence as number | undefined) ?? 0,
    }
  },

  /** Does nothing: changes append their events to the logs themselves. */
  sequence: async () => 0,

  async findUnstreamed(limit) {
    const sql = `SELECT ${logColumns} FROM unstreamedLogs CROSS JOIN eventLogs USING (organizationId) LIMIT ? + 0`
    return database.all(sql, limit).map(toLog)
  },

  /** Index: the key of eventLogs. */
  async streamedSequence(organizationId) {
    const sql = 'SELECT streamedSequence FROM eventLogs WHERE organizationId = ?'
    return (database.get(sql, organizationId)?.streamedSequence as number | undefined) ?? 0
  },

  async markStreamed(organizationId, sequence) {
    await database.write(() => {
      const last = lastSequenceOf(database, organizationId)
      const streamed = Math.min(sequence, last)
      const sql =
        'UPDATE eventLogs SET streamedSequence = ? WHERE organizationId = ? AND streamedSequence < ?'
      database.run(sql, streamed, organizationId, streamed)
      if (streamed === last)
        database.run('DELETE FROM unstreamedLogs WHERE organizationId = ?', organizationId)
    })
  },

  prune: (before, limit, maxEvents) =>
    database.write(() => pruneEvents(database, retention(before, maxEvents), limit)),

  /** Counts the events of at most {@link maxCountedLogs} logs. Index: events_by_sequence. */
  async backlog() {
    const row = database.get(
      `SELECT total((${lastSequence}) - streamedSequence) AS unstreamed, min(time) AS oldestTime
       FROM (SELECT organizationId FROM unstreamedLogs LIMIT ${maxCountedLogs}) CROSS JOIN eventLogs USING (organizationId)
       CROSS JOIN events ON events.organizationId = eventLogs.organizationId AND sequence = streamedSequence + 1`,
    )!
    const oldestTime = row.oldestTime === null ? {} : { oldestTime: new Date(row.oldestTime as number) }
    return { pending: 0, unstreamed: row.unstreamed as number, ...oldestTime }
  },

  /** Index: the key of eventLogs. */
  logs() {
    const sql = `SELECT ${logColumns} FROM eventLogs WHERE organizationId > ? ORDER BY organizationId LIMIT 500`
    return readInPages((last) => database.all(sql, last?.organizationId ?? '').map(toLog))
  },

  importEvent: (event) => database.write(() => importEvent(database, event)),
})

/** The columns of `toLog`. */
const logColumns = `eventLogs.organizationId, streamedSequence, (${lastSequence}) AS lastSequence`

const toEvent = ({ event }: Row): FormEvent => JSON.parse(event as string)

const toLog = ({ organizationId, streamedSequence, lastSequence }: Row): UnstreamedLog => ({
  organizationId: organizationId as string,
  streamedSequence: streamedSequence as number,
  lastSequence: lastSequence as number,
})
