import { afterPosition, allOf, orderSql, pageSql, type SqliteDatabase, unlessAborted } from '@fms/store-kit'
import type { DeletedFormsPage, ListDeletedFormsQuery } from '../../forms-store.ts'
import { toDeletedForm } from '../../stored-rows.ts'
import { deletedFormColumns } from '../rows.ts'
import { readUsage } from '../usage.ts'
import type { PageBounds } from './page-bounds.ts'

const order = [
  { field: 'deleteTime', descending: true },
  { field: 'formId', descending: false },
]

/** Reads a page of deleted forms. Index: deletions_by_deleteTime. */
export const readDeletedForms = (
  database: SqliteDatabase,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
  bounds: PageBounds,
): DeletedFormsPage | 'large' => {
  const totalSize = readUsage(database, organizationId).deletedForms
  if (Math.min(skip, totalSize) > bounds.skipped) return 'large'
  const where = allOf(
    { sql: 'organizationId = ?', values: [organizationId] },
    after && afterPosition(order, [after.deleteTime.getTime(), after.formId]),
    unlessAborted('incarnation'),
  )
  const sql = `SELECT ${deletedFormColumns} FROM deletions WHERE ${where.sql} ORDER BY ${orderSql(order)} ${pageSql}`
  const found = database.all(sql, ...where.values, limit + 1, skip).map(toDeletedForm)
  const deletedForms = found.slice(0, limit)
  const last = found.length > limit ? deletedForms.at(-1) : undefined
  const next = last && { deleteTime: last.deleteTime, formId: last.formId }
  return { deletedForms, ...(next && { next }), totalSize }
}
