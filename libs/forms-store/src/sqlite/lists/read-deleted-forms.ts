import { afterPosition, allOf, orderSql, pageSql, type SqliteDatabase } from '@fms/store-kit'
import type {
  DeletedForm,
  DeletedFormPosition,
  DeletedFormsPage,
  ListDeletedFormsQuery,
} from '../../forms-store.ts'
import { deletedFormColumns, toDeletedForm } from '../rows.ts'

const order = [
  { column: 'deleteTime', descending: true },
  { column: 'formId', descending: false },
]

/** Reads a page of deleted forms, without their drafts. Index: deletedForms_by_deleteTime. */
export const readDeletedForms = (
  database: SqliteDatabase,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
): DeletedFormsPage => {
  const position = after && afterPosition(order, [after.deleteTime.getTime(), after.formId])
  const where = allOf({ sql: 'organizationId = ?', values: [organizationId] }, position)
  const rows = database.all(
    `SELECT ${deletedFormColumns} FROM deletedForms WHERE ${where.sql} ORDER BY ${orderSql(order)} ${pageSql}`,
    ...where.values,
    limit + 1,
    skip,
  )
  const found = rows.map(toDeletedForm)
  const deletedForms = found.slice(0, limit)
  const next = found.length > limit ? deletedForms.at(-1) : undefined
  return {
    deletedForms,
    ...(next && { next: positionOf(next) }),
    totalSize: countDeletedForms(database, organizationId),
  }
}

const positionOf = ({ deleteTime, formId }: DeletedForm): DeletedFormPosition => ({ deleteTime, formId })

/** Triggers count deleted forms with each write. Index: the key of usage. */
const countDeletedForms = (database: SqliteDatabase, organizationId: string): number => {
  const row = database.get('SELECT deletedForms FROM usage WHERE organizationId = ?', organizationId)
  return (row?.deletedForms as number | undefined) ?? 0
}
