import type { Row, SqliteDatabase } from '@fms/store-kit'
import { type RevisionsSize, sizeOf } from '../../revisions/revision-growth.ts'
import { addUsage } from '../usage.ts'

/** Bounds of one batch: rows, and bytes of revisions. */
export const maxRows = 500
const maxBytes = 4 * 1024 * 1024

/** Takes rows with a column `bytes` until they have 4 MiB; at least one. */
export const oneBatch = (rows: readonly Row[]): Row[] => {
  let bytes = 0
  const end = rows.findIndex((row) => {
    if (bytes >= maxBytes) return true
    bytes += row.bytes as number
    return false
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}

/** Deletes revisions and subtracts them from the usage. Runs in a transaction. Index: the key of revisions. */
export const deleteRevisions = (
  database: SqliteDatabase,
  organizationId: string,
  rows: readonly Row[],
): RevisionsSize => {
  for (const { revisionId } of rows) database.run('DELETE FROM revisions WHERE revisionId = ?', revisionId!)
  const size = sizeOf(rows)
  addUsage(database, organizationId, {
    bytes: -size.bytes,
    revisionBytes: -size.bytes,
    revisions: -size.revisions,
  })
  return size
}
