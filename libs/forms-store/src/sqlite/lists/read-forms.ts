import type { Row, SqliteDatabase } from '@fms/store-kit'
import { completeOrder, type FormOrderField, type FormPosition, positionOf } from '../../form-order.ts'
import type { FormsPage, FormText, ListFormsQuery } from '../../forms-store.ts'
import { maxPageBytes } from '../../take-up-to.ts'
import { stateColumns, toFormText } from '../rows.ts'
import { type FoundPage, findPage, findSmallPage } from './find-page.ts'
import { atOnce, type PageSteps } from './steps.ts'

/** A page of drafts up to this size is read in one go: a millisecond or two. */
export const smallPageBytes = 256 * 1024

/** What a page tells beside its forms. */
export type FormsPageEnd = Omit<FormsPage, 'forms'>

const listColumns = `${stateColumns}, name, type, aiHandoff`

/** The page of a list, form by form. */
export function* readForms(
  database: SqliteDatabase,
  query: ListFormsQuery,
): PageSteps<FormText, FormsPageEnd> {
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
    yield toFormText(last)
  }
  return endOf(query, found, count, last)
}

/** @returns the page of a list, unless it takes longer than a millisecond or two to read. */
export const readSmallForms = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  few?: number,
): FormsPage | undefined => {
  const steps = findSmallPage(database, query, few)
  if (!steps) return undefined
  const found = atOnce(steps)
  // SQLite knows the size of a draft without reading it.
  const sql = `SELECT ${listColumns}, octet_length(draft) AS bytes,
    CASE WHEN octet_length(draft) <= ? THEN draft END AS draft FROM forms WHERE rowid = ?`
  const rows: Row[] = []
  let left = smallPageBytes
  for (const id of found.ids.slice(0, query.limit)) {
    const row = database.get(sql, left, id)!
    if (row.draft === null) return undefined
    left -= row.bytes as number
    rows.push(row)
  }
  return { forms: rows.map(toFormText), ...endOf(query, found, rows.length, rows.at(-1)) }
}

/** @param last the last form of the page. */
const endOf = (
  { orderBy }: ListFormsQuery,
  { ids, totalSize }: FoundPage,
  count: number,
  last: Row | undefined,
): FormsPageEnd => {
  if (!last || count === ids.length) return { totalSize }
  const next: FormPosition = positionOf(
    last as Record<FormOrderField, string | number>,
    completeOrder(orderBy),
  )
  return { next, totalSize }
}
