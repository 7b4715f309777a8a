import { type Position, positionOf } from '@fms/aip'
import type { FormOrderField } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormSummariesPage, FormsPage, ListFormsQuery, ListReport, PageEnd } from '../../forms-store.ts'
import { completeFormOrder } from '../../lists/form-fields.ts'
import { toFormSummary, toStoredForm } from '../../stored-rows.ts'
import { summaryColumns } from '../rows.ts'
import { findPage, readRowsAlongIndex } from './find-page.ts'
import { type PageBounds, smallPage } from './page-bounds.ts'
import { readTexts } from './read-texts.ts'

/** Selects drafts up to a size. SQLite computes the size of a draft without reading it. */
const columns = `${summaryColumns}, aiHandoff, octet_length(draft) AS bytes,
  CASE WHEN octet_length(draft) <= ? THEN draft END AS draft`

/** Reads the page of a list; `large` when it may be beyond the bounds. */
export const readForms = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  bounds: PageBounds,
  report: ListReport,
): FormsPage | 'large' => {
  const page = readShortForms(database, query, report)
  if (page) return page
  const found = findPage(database, query, bounds, report)
  if (found === 'large') return found
  const sql = `SELECT ${columns} FROM forms WHERE rowid = ?`
  const rows = readTexts(database, sql, found.ids.slice(0, query.limit), bounds)
  return rows === 'large' ? rows : toPage(query, rows, toStoredForm, found.ids.length, found.totalSize)
}

const maxShortForms = 50

/** Reads an unfiltered page in one statement. @returns undefined for other lists and when a draft is too large. */
const readShortForms = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  report: ListReport,
): FormsPage | undefined => {
  const { limit } = query
  if (limit > maxShortForms) return undefined
  const values = [smallPage.bytes / (limit + 1)]
  const found = readRowsAlongIndex(database, query, { sql: columns, values }, report)
  if (!found || found.rows.some(({ draft }) => draft === null)) return undefined
  return toPage(query, found.rows.slice(0, limit), toStoredForm, found.rows.length, found.totalSize)
}

/** @param found the number of forms found, including the one after the page. */
const toPage = <T>(
  { orderBy }: ListFormsQuery,
  rows: readonly Row[],
  toItem: (row: Row) => T,
  found: number,
  totalSize: number,
): PageEnd<Position> & { forms: T[] } => {
  const last = rows.length < found ? rows.at(-1) : undefined
  const next = last && positionOf(last as Record<FormOrderField, string | number>, completeFormOrder(orderBy))
  return { forms: rows.map(toItem), ...(next && { next }), totalSize }
}

/** Up to 1,000 forms along an index take 2 ms: the draft is the last column, so SQLite reads no overflow pages. */
export const readSummaries = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  bounds: PageBounds,
  report: ListReport,
): FormSummariesPage | 'large' => {
  const summariesOf = (rows: readonly Row[], totalSize: number) =>
    toPage(query, rows.slice(0, query.limit), toFormSummary, rows.length, totalSize)
  const page = readRowsAlongIndex(database, query, { sql: summaryColumns, values: [] }, report)
  if (page) return summariesOf(page.rows, page.totalSize)
  const found = findPage(database, query, bounds, report)
  if (found === 'large') return found
  const sql = `SELECT rowid AS id, ${summaryColumns} FROM forms WHERE rowid IN (SELECT value FROM json_each(?))`
  const byId = new Map(database.all(sql, JSON.stringify(found.ids)).map((row) => [row.id, row]))
  return summariesOf(
    found.ids.map((id) => byId.get(id)!),
    found.totalSize,
  )
}
