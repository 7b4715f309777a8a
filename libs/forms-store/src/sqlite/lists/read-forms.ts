import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormsPage, ListFormsQuery, StoredForm } from '../../forms-store.ts'
import { completeOrder, type FormOrderField, type FormPosition, positionOf } from '../../lists/form-order.ts'
import { maxPageBytes } from '../../lists/take-up-to.ts'
import { stateColumns, toStoredForm } from '../rows.ts'
import { type FoundPage, findPage, findSmallPage, readRowsAlongIndex } from './find-page.ts'
import { type PageSteps, runToEnd } from './steps.ts'

/** Pages up to this size are read on the main thread: one to two milliseconds. */
export const smallPageBytes = 256 * 1024

/** A page without its forms. */
export type FormsPageEnd = Omit<FormsPage, 'forms'>

const listColumns = `${stateColumns}, name, type, aiHandoff`

/** Reads the page of a list, form by form. */
export function* readForms(
  database: SqliteDatabase,
  query: ListFormsQuery,
): PageSteps<StoredForm, FormsPageEnd> {
  const found = yield* findPage(database, query)
  const sql = `SELECT ${listColumns}, draft, octet_length(draft) AS bytes FROM forms WHERE rowid = ?`
  let last: Row | undefined
  let count = 0
  let bytes = 0
  for (const id of found.ids.slice(0, query.limit)) {
    if (bytes >= maxPageBytes) break
    last = database.get(sql, id)!
    bytes += last.bytes as number
    count++
    yield toStoredForm(last)
  }
  return endOf(query, foundBy(found), count, last)
}

/** Selects drafts up to a size. SQLite computes the size of a draft without reading it. */
const smallColumns = `${listColumns}, octet_length(draft) AS bytes,
  CASE WHEN octet_length(draft) <= ? THEN draft END AS draft`

/** Maximum of forms that one statement reads. */
const maxShortForms = 50

/** Reads an unfiltered page in one statement. @returns undefined for other lists and when a draft is too large. */
const readShortForms = (database: SqliteDatabase, query: ListFormsQuery): FormsPage | undefined => {
  const { limit } = query
  if (limit > maxShortForms) return undefined
  const columns = { sql: smallColumns, values: [smallPageBytes / (limit + 1)] }
  const page = readRowsAlongIndex(database, query, columns)
  if (!page || page.rows.some(({ draft }) => draft === null)) return undefined
  const rows = page.rows.slice(0, limit)
  const found = { count: page.rows.length, totalSize: page.totalSize }
  return { forms: rows.map(toStoredForm), ...endOf(query, found, rows.length, rows.at(-1)) }
}

/** Reads the page of a list if that takes one to two milliseconds. @returns undefined when it may take longer. */
export const readSmallForms = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  few?: number,
): FormsPage | undefined => {
  const page = readShortForms(database, query)
  if (page) return page
  const steps = findSmallPage(database, query, few)
  if (!steps) return undefined
  const found = runToEnd(steps)
  const sql = `SELECT ${smallColumns} FROM forms WHERE rowid = ?`
  const rows: Row[] = []
  let left = smallPageBytes
  for (const id of found.ids.slice(0, query.limit)) {
    const row = database.get(sql, left, id)!
    if (row.draft === null) return undefined
    left -= row.bytes as number
    rows.push(row)
  }
  return { forms: rows.map(toStoredForm), ...endOf(query, foundBy(found), rows.length, rows.at(-1)) }
}

const foundBy = ({ ids, totalSize }: FoundPage) => ({ count: ids.length, totalSize })

/**
 * The page without its forms.
 *
 * @param found the number of forms found, including the one after the page, and the number of matches.
 * @param count the number of forms on the page.
 * @param last the last form of the page.
 */
export const endOf = (
  { orderBy }: ListFormsQuery,
  found: { count: number; totalSize: number },
  count: number,
  last: Row | undefined,
): FormsPageEnd => {
  const { totalSize } = found
  if (!last || count === found.count) return { totalSize }
  const next: FormPosition = positionOf(
    last as Record<FormOrderField, string | number>,
    completeOrder(orderBy),
  )
  return { next, totalSize }
}
