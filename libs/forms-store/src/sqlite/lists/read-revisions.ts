import { pageSql, type Row, type SqliteDatabase } from '@fms/store-kit'
import type { FormRef, ListedRevision, ListRevisionsQuery, RevisionsPage } from '../../forms-store.ts'
import { maxPageBytes } from '../../lists/take-up-to.ts'
import { findForm } from '../find-form.ts'
import { toStoredRevision } from '../rows.ts'
import { smallPageBytes } from './read-forms.ts'
import type { PageSteps, Steps } from './steps.ts'

/** A page without its revisions; undefined when there is no such form. */
export type RevisionsPageEnd = Omit<RevisionsPage, 'revisions'> | undefined

/** Index entries that one step reads. */
const maxEntries = 10_000

/** Reads the page of a list of revisions, one by one. */
export function* readRevisions(
  database: SqliteDatabase,
  query: ListRevisionsQuery,
): PageSteps<ListedRevision, RevisionsPageEnd> {
  const form = readForm(database, query)
  if (!form) return undefined
  const totalSize = yield* countRevisions(database, form)
  const rows = yield* findRevisions(database, form, query)
  const sql = 'SELECT *, octet_length(form) AS bytes FROM revisions WHERE rowid = ?'
  let count = 0
  let bytes = 0
  for (const { id } of rows.slice(0, query.limit)) {
    if (bytes >= maxPageBytes) break
    const row = database.get(sql, id!)!
    bytes += row.bytes as number
    count++
    yield toListedRevision(row, form)
  }
  return endOf(rows, count, totalSize)
}

/**
 * Reads a page of revisions if that takes one to two milliseconds.
 *
 * @returns undefined when there is no such form; `large` when it may take longer.
 */
export const readSmallRevisions = (
  database: SqliteDatabase,
  query: ListRevisionsQuery,
): RevisionsPage | 'large' | undefined => {
  const form = readForm(database, query)
  if (!form) return undefined
  // An upper bound of the number of revisions: numbers have gaps.
  if ((form.revisionNumber as number) > maxEntries) return 'large'
  const total = database.get('SELECT count(*) AS total FROM revisions WHERE incarnation = ?', form.id!)
  const rows = readNumbers(database, form, query.after, query.limit + 1, query.skip)
  const sql = `SELECT organizationId, revisionId, number, commandId, createTime, publisher, note,
    octet_length(form) AS bytes, CASE WHEN octet_length(form) <= ? THEN form END AS form FROM revisions WHERE rowid = ?`
  const revisions: ListedRevision[] = []
  let left = smallPageBytes
  for (const { id } of rows.slice(0, query.limit)) {
    const row = database.get(sql, left, id!)!
    if (row.form === null) return 'large'
    left -= row.bytes as number
    revisions.push(toListedRevision(row, form))
  }
  return { revisions, ...endOf(rows, revisions.length, total?.total as number) }
}

const readForm = (database: SqliteDatabase, ref: FormRef): Row | undefined =>
  findForm(database, ref, 'id, formId, liveRevisionId, revisionNumber')

function* countRevisions(database: SqliteDatabase, { id }: Row): Steps<number> {
  const sql =
    'SELECT count(*) AS total, max(number) AS last FROM (SELECT number FROM revisions WHERE incarnation = ? AND number > ? ORDER BY number LIMIT ? + 0)'
  let total = 0
  for (let after = 0; ; ) {
    const row = database.get(sql, id!, after, maxEntries)!
    total += row.total as number
    if (row.total !== maxEntries) return total
    after = row.last as number
    yield
  }
}

function* findRevisions(
  database: SqliteDatabase,
  form: Row,
  { after, limit, skip }: ListRevisionsQuery,
): Steps<Row[]> {
  let [from, left] = [after, skip]
  while (left > maxEntries) {
    const [last] = readNumbers(database, form, from, 1, maxEntries - 1)
    if (!last) return []
    from = last.number as number
    left -= maxEntries
    yield
  }
  return readNumbers(database, form, from, limit + 1, left)
}

/** Index: revisions_by_number. */
const readNumbers = (
  database: SqliteDatabase,
  { id }: Row,
  after: number | undefined,
  limit: number,
  skip: number,
): Row[] =>
  database.all(
    `SELECT rowid AS id, number FROM revisions
     WHERE incarnation = ? AND number < ? ORDER BY number DESC ${pageSql}`,
    id!,
    after ?? Number.MAX_SAFE_INTEGER,
    limit,
    skip,
  )

const endOf = (rows: readonly Row[], count: number, totalSize: number): NonNullable<RevisionsPageEnd> =>
  count === 0 || count === rows.length
    ? { totalSize }
    : { next: rows[count - 1]!.number as number, totalSize }

const toListedRevision = (row: Row, form: Row): ListedRevision => ({
  revision: toStoredRevision({ ...row, formId: form.formId! }),
  live: row.revisionId === form.liveRevisionId,
})
