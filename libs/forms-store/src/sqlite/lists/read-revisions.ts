import { pageSql, type Row, type SqliteDatabase, unlessAborted } from '@fms/store-kit'
import type { ListedRevision, ListRevisionsQuery, RevisionsPage } from '../../forms-store.ts'
import { toStoredRevision } from '../../stored-rows.ts'
import { findForm } from '../find-form.ts'
import type { PageBounds } from './page-bounds.ts'
import { readTexts } from './read-texts.ts'

/** Revisions that are counted along an index in the time that the scan of one form takes. */
const revisionsPerForm = 20

const ofForm = `incarnation = ? AND ${unlessAborted('rowid').sql}`

/** Reads a page of revisions. Index: revisions_by_number. @returns undefined when there is no such form. */
export const readRevisions = (
  database: SqliteDatabase,
  query: ListRevisionsQuery,
  bounds: PageBounds,
): RevisionsPage | 'large' | undefined => {
  const form = findForm(database, query, 'id, formId, liveRevisionId, revisionNumber', false)
  if (!form) return undefined
  // An upper bound of the number of revisions: numbers have gaps.
  if ((form.revisionNumber as number) > bounds.scanned * revisionsPerForm) return 'large'
  const total = database.get(`SELECT count(*) AS total FROM revisions WHERE ${ofForm}`, form.id!)
  const rows = database.all(
    `SELECT rowid AS id, number FROM revisions WHERE ${ofForm} AND number < ? ORDER BY number DESC ${pageSql}`,
    form.id!,
    query.after ?? Number.MAX_SAFE_INTEGER,
    query.limit + 1,
    query.skip,
  )
  const sql = `SELECT organizationId, revisionId, number, commandId, createTime, publisher, note,
    octet_length(form) AS bytes, CASE WHEN octet_length(form) <= ? THEN form END AS form FROM revisions WHERE rowid = ?`
  const ids = rows.slice(0, query.limit).map(({ id }) => id as number)
  const texts = readTexts(database, sql, ids, bounds)
  if (texts === 'large') return texts
  const revisions = texts.map((row) => toListedRevision(row, form))
  const totalSize = total?.total as number
  const last = revisions.length < rows.length ? revisions.at(-1) : undefined
  return { revisions, ...(last && { next: last.revision.number }), totalSize }
}

const toListedRevision = (row: Row, form: Row): ListedRevision => ({
  revision: toStoredRevision({ ...row, formId: form.formId! }),
  live: row.revisionId === form.liveRevisionId,
})
