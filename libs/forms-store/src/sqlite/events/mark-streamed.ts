import type { SqliteDatabase } from '@fms/store-kit'
import { lastSequenceOf } from './append-event.ts'

/** Records that the events of a log up to `sequence` are in the stream. Runs in a transaction. */
export const markStreamed = (database: SqliteDatabase, organizationId: string, sequence: number): void => {
  const last = lastSequenceOf(database, organizationId)
  const streamed = Math.min(sequence, last)
  const sql = 'UPDATE eventLogs SET streamedSequence = ? WHERE organizationId = ? AND streamedSequence < ?'
  database.run(sql, streamed, organizationId, streamed)
  if (streamed === last) database.run('DELETE FROM unstreamedLogs WHERE organizationId = ?', organizationId)
}
