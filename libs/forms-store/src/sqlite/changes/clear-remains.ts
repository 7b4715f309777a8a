import type { Row, SqliteDatabase } from '@fms/store-kit'
import { deleteRevisions, maxRows, oneBatch } from '../revisions/delete-revisions.ts'

/** See `ChangeEngine.clearRemains`. Each batch is a transaction. */
export const clearRemains = async (
  database: SqliteDatabase,
  signal?: AbortSignal,
  incarnation?: number,
): Promise<void> => {
  const next = () =>
    incarnation === undefined
      ? database.get('SELECT * FROM remains LIMIT 1')
      : database.get('SELECT * FROM remains WHERE incarnation = ?', incarnation)
  for (let found = next(); found && !signal?.aborted; found = next()) {
    const form = found
    await database.write(() => clearBatch(database, form))
    // Yields to other requests between two batches.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Indexes: the key of replies and revisions_by_number. */
const clearBatch = (database: SqliteDatabase, { incarnation, organizationId }: Row): void => {
  const replies = 'SELECT replyId FROM replies WHERE incarnation = ? LIMIT ?'
  const sql = `DELETE FROM replies WHERE incarnation = ? AND replyId IN (${replies})`
  if (database.run(sql, incarnation!, incarnation!, maxRows) === maxRows) return
  const found = database.all(
    'SELECT revisionId, octet_length(form) AS bytes FROM revisions WHERE incarnation = ? ORDER BY number LIMIT ?',
    incarnation!,
    maxRows,
  )
  const batch = oneBatch(found)
  deleteRevisions(database, organizationId as string, batch)
  if (batch.length === found.length && found.length < maxRows)
    database.run('DELETE FROM remains WHERE incarnation = ?', incarnation!)
}
