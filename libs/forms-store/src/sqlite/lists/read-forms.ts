import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormsPage, ListFormsQuery, StoredForm } from '../../forms-store.ts'
import { completeOrder, type FormOrderField, type FormPosition, positionOf } from '../../lists/form-order.ts'
import { maxPageBytes } from '../../lists/take-up-to.ts'
import { stateColumns, toStoredForm } from '../rows.ts'
import { type FoundPage, findPage, findSmallPage, readRowsAlongIndex } from './find-page.ts'
import { type PageSteps, runToEnd } from './steps.ts'

/** A page of drafts up to this size is read in one go: a millisecond or two. */
export const smallPageBytes = 256 * 1024

/** What a page tells beside its forms. */
export type FormsPageEnd = Omit<FormsPage, 'forms'>

const listColumns = `${stateColumns}, name, type, aiHandoff`

/** The page of a list, form by form. */
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

/** Drafts up to a size; SQLite knows how large one is without reading it. */
const smallColumns = `${listColumns}, octet_length(draft) AS bytes,
  CASE WHEN octet_length(draft) <= ? THEN draft END AS draft`

/** Forms of a page that one statement reads at most. */
const maxShortForms = 50

/** An unfiltered page of drafts that are each small enough for a small page of so many; undefined for other lists. */
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

/** @returns the page of a list, unless it takes longer than a millisecond or two to read. */
export const readSmallForms = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  few?: number,
): FormsPage | undefined => {
  const short = readShortForms(database, query)
  if (short) return short
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
 * @param found how many forms were found for the page, the one behind it included, and how many the list has.
 * @param count of the forms that are on the page.
 * @param last the last one of them.
 */
const endOf = (
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
