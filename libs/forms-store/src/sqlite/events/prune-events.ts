import type { Row, SqliteDatabase } from '@fms/store-kit'
import { mayGo, type Retention } from '../../events/retention.ts'
import { addUsage } from '../usage.ts'
import { lastSequence, updateOldestTime } from './append-event.ts'

/** See `EventLog.prune`. Runs in a transaction, and subtracts the deleted events from the usage. */
export const pruneEvents = (database: SqliteDatabase, rule: Retention, limit: number): number => {
  let pruned = 0
  for (const log of findLogs(database, rule, limit)) {
    if (pruned === limit) break
    pruned += pruneLog(database, log, rule, limit - pruned)
  }
  return pruned
}

/** Logs with old events, and logs with too many. Indexes: eventLogs_by_oldestTime, eventLogs_by_length. */
const findLogs = (
  database: SqliteDatabase,
  { before, maxEvents, youngest }: Retention,
  limit: number,
): Row[] => {
  const find = (condition: string, ...bounds: number[]) =>
    database.all(
      `SELECT organizationId, streamedSequence, (${lastSequence}) AS lastSequence FROM eventLogs
       WHERE ${condition} LIMIT ? + 0`,
      ...bounds,
      limit,
    )
  const old = find('oldestTime < ? AND streamedSequence >= oldestSequence ORDER BY oldestTime', before)
  if (maxEvents === Number.POSITIVE_INFINITY) return old
  const length = 'streamedSequence - oldestSequence'
  const long = `${length} >= ? + 0 AND +oldestTime < ? ORDER BY ${length} DESC`
  return [...old, ...find(long, maxEvents, youngest)]
}

/** Deletes events from the start of a log up to the first one that has to stay. Index: events_by_sequence. */
const pruneLog = (database: SqliteDatabase, log: Row, rule: Retention, limit: number): number => {
  const organizationId = log.organizationId as string
  const [lastSequence, streamedSequence] = [log.lastSequence as number, log.streamedSequence as number]
  const oldest = database.all(
    `SELECT sequence, time, octet_length(event) AS bytes FROM events
     WHERE organizationId = ? AND sequence <= ? ORDER BY sequence LIMIT ? + 0`,
    organizationId,
    Math.min(lastSequence - 1, streamedSequence),
    limit,
  ) as unknown as { sequence: number; time: number; bytes: number }[]
  const firstToKeep = oldest.findIndex((event) => !mayGo(event, streamedSequence, rule))
  const going = firstToKeep < 0 ? oldest : oldest.slice(0, firstToKeep)
  if (going.length === 0) return 0
  const sql = 'DELETE FROM events WHERE organizationId = ? AND sequence <= ?'
  database.run(sql, organizationId, going.at(-1)!.sequence)
  addUsage(database, organizationId, { bytes: -going.reduce((sum, { bytes }) => sum + bytes, 0) })
  updateOldestTime(database, organizationId)
  return going.length
}
