import { afterPosition, allOf, orderSql, pageSql, type Row, type SqliteDatabase } from '@fms/store-kit'
import type {
  DeletedForm,
  DeletedFormPosition,
  DeletedFormsPage,
  ListDeletedFormsQuery,
} from '../../forms-store.ts'
import { deletedFormColumns, toDeletedForm } from '../rows.ts'
import { readUsage } from '../usage.ts'
import type { Steps } from './steps.ts'

/** Index entries that one step skips, in a few milliseconds. */
const maxEntries = 5_000

const order = [
  { column: 'deleteTime', descending: true },
  { column: 'formId', descending: false },
]

/** Reads a page of deleted forms. Index: deletions_by_deleteTime. */
export function* readDeletedForms(
  database: SqliteDatabase,
  query: ListDeletedFormsQuery,
): Steps<DeletedFormsPage> {
  let { after, skip } = query
  while (skip > maxEntries) {
    const [last] = readRows(database, { ...query, ...(after && { after }), limit: 1, skip: maxEntries - 1 })
    if (!last) break
    after = { deleteTime: new Date(last.deleteTime as number), formId: last.formId as string }
    skip -= maxEntries
    yield
  }
  return readPage(database, { ...query, ...(after && { after }), skip })
}

const readPage = (database: SqliteDatabase, query: ListDeletedFormsQuery): DeletedFormsPage =>
  database.snapshot(() => {
    const { organizationId, limit } = query
    const found = readRows(database, { ...query, limit: limit + 1 }).map(toDeletedForm)
    const deletedForms = found.slice(0, limit)
    const totalSize = readUsage(database, organizationId).deletedForms
    const last = found.length > limit ? deletedForms.at(-1) : undefined
    return { deletedForms, ...(last && { next: positionOf(last) }), totalSize }
  })

const readRows = (
  database: SqliteDatabase,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
): Row[] => {
  const position = after && afterPosition(order, [after.deleteTime.getTime(), after.formId])
  const where = allOf({ sql: 'organizationId = ?', values: [organizationId] }, position)
  const sql = `SELECT ${deletedFormColumns} FROM deletions WHERE ${where.sql} ORDER BY ${orderSql(order)} ${pageSql}`
  return database.all(sql, ...where.values, limit, skip)
}

const positionOf = ({ deleteTime, formId }: DeletedForm): DeletedFormPosition => ({ deleteTime, formId })
