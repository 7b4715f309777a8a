import { maxPageBytes, type Row, type SqliteDatabase } from '@fms/store-kit'
import type { PageBounds } from './page-bounds.ts'

/**
 * Reads the rows of a page, at least one, until they have 4 MiB; `large` beyond the bounds.
 *
 * @param sql selects a row by the bytes that are left and its id: `bytes`, and texts that are null if they are longer.
 */
export const readTexts = (
  database: SqliteDatabase,
  sql: string,
  ids: readonly number[],
  bounds: PageBounds,
): Row[] | 'large' => {
  const rows: Row[] = []
  let bytes = 0
  for (const id of ids) {
    if (bytes >= maxPageBytes) break
    const left = bounds.bytes - bytes
    const row = database.get(sql, left, id)!
    if ((row.bytes as number) > left) return 'large'
    bytes += row.bytes as number
    rows.push(row)
  }
  return rows
}
