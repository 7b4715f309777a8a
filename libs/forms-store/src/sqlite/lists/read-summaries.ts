import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormSummariesPage, ListFormsQuery, ListReport } from '../../forms-store.ts'
import { toFormSummary } from '../../stored-rows.ts'
import { summaryColumns as columns } from '../rows.ts'
import { findPage, readRowsAlongIndex } from './find-page.ts'
import type { PageBounds } from './page-bounds.ts'
import { endOf } from './read-forms.ts'

/**
 * Reads the page of a list, without its drafts: up to 1,000 forms along an index take two milliseconds. The draft is the last
 * column, so SQLite reads the beginning of each row only, and no overflow page.
 */
export const readSummaries = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  bounds: PageBounds,
  report: ListReport,
): FormSummariesPage | 'large' => {
  const page = readRowsAlongIndex(database, query, { sql: columns, values: [] }, report)
  if (page) return toPage(query, page.rows, page.totalSize)
  const found = findPage(database, query, bounds, report)
  if (found === 'large') return found
  const sql = `SELECT rowid AS id, ${columns} FROM forms WHERE rowid IN (SELECT value FROM json_each(?))`
  const byId = new Map(database.all(sql, JSON.stringify(found.ids)).map((row) => [row.id, row]))
  const rows = found.ids.map((id) => byId.get(id)!)
  return toPage(query, rows, found.totalSize)
}

/** @param rows of the page, and the next one. */
const toPage = (query: ListFormsQuery, rows: readonly Row[], totalSize: number): FormSummariesPage => {
  const page = rows.slice(0, query.limit)
  return { forms: page.map(toFormSummary), ...endOf(query, page, rows.length, totalSize) }
}
