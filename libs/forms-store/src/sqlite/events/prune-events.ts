import type { Row, SqliteDatabase } from '@fms/store-kit'
import { noteOldestTime } from './append-event.ts'
import { lastSequence, oldestSequence } from './sequences.ts'

/**
 * Deletes the oldest events of the logs whose oldest event is from before `before`. A log keeps its newest event, and
 * those that are not in the stream. Runs in a transaction. Index: eventLogs_by_oldestTime.
 *
 * @returns the number of deleted events, at most `limit`.
 */
export const pruneEvents = (database: SqliteDatabase, before: Date, limit: number): number => {
  let pruned = 0
  const logs = database.all(
    `SELECT organizationId, streamedSequence, (${lastSequence}) AS lastSequence FROM eventLogs
     WHERE oldestTime < ? AND streamedSequence >= (${oldestSequence}) ORDER BY oldestTime LIMIT ? + 0`,
    before.getTime(),
    limit,
  )
  for (const log of logs) {
    if (pruned === limit) break
    pruned += pruneLog(database, log, before, limit - pruned)
    noteOldestTime(database, log.organizationId as string)
  }
  return pruned
}

/** Deletes events from the start of a log up to the first one that has to stay. Index: events_by_sequence. */
const pruneLog = (database: SqliteDatabase, log: Row, before: Date, limit: number): number => {
  const { organizationId, lastSequence, streamedSequence } = log
  const lastToDelete = Math.min((lastSequence as number) - 1, streamedSequence as number)
  const oldest = database.all(
    'SELECT sequence, time FROM events WHERE organizationId = ? AND sequence <= ? ORDER BY sequence LIMIT ? + 0',
    organizationId!,
    lastToDelete,
    limit,
  )
  const firstToKeep = oldest.findIndex(({ time }) => (time as number) >= before.getTime())
  const last = (firstToKeep < 0 ? oldest : oldest.slice(0, firstToKeep)).at(-1)
  if (!last) return 0
  return database.run(
    'DELETE FROM events WHERE organizationId = ? AND sequence <= ?',
    organizationId!,
    last.sequence!,
  )
}
