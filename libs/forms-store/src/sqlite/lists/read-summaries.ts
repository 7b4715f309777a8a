import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormSummariesPage, FormSummary, ListFormsQuery } from '../../forms-store.ts'
import { stateColumns, toFormSummary } from '../rows.ts'
import { type FoundPage, findPage, findSmallPage, readRowsAlongIndex } from './find-page.ts'
import { endOf, type FormsPageEnd } from './read-forms.ts'
import { type PageSteps, runToEnd } from './steps.ts'

/** Without the draft, which is the last column: SQLite reads the beginning of each row only, and no overflow page. */
const columns = `${stateColumns}, name, type`

/** Reads the page of a list, without its drafts. */
export function* readSummaries(
  database: SqliteDatabase,
  query: ListFormsQuery,
): PageSteps<FormSummary, FormsPageEnd> {
  const { forms, ...end } = readFound(database, query, yield* findPage(database, query))
  yield* forms
  return end
}

/**
 * Reads the page of a list if that takes a few milliseconds: 1,000 forms along an index take two.
 *
 * @returns undefined when it may take longer.
 */
export const readSmallSummaries = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  few?: number,
): FormSummariesPage | undefined => {
  const page = readRowsAlongIndex(database, query, { sql: columns, values: [] })
  if (page) return toPage(query, page.rows, page.totalSize)
  const steps = findSmallPage(database, query, few)
  return steps && readFound(database, query, runToEnd(steps))
}

const readFound = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  { ids, totalSize }: FoundPage,
): FormSummariesPage => {
  const sql = `SELECT rowid AS id, ${columns} FROM forms WHERE rowid IN (SELECT value FROM json_each(?))`
  const found = new Map(database.all(sql, JSON.stringify(ids)).map((row) => [row.id, row]))
  const rows = ids.map((id) => found.get(id)!)
  return toPage(query, rows, totalSize)
}

/** @param rows of the page, and the next one. */
const toPage = (query: ListFormsQuery, rows: readonly Row[], totalSize: number): FormSummariesPage => {
  const page = rows.slice(0, query.limit)
  const end = endOf(query, { count: rows.length, totalSize }, page.length, page.at(-1))
  return { forms: page.map(toFormSummary), ...end }
}
