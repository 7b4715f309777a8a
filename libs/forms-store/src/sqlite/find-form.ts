import { isPublicId, isUuid } from '@fms/contracts'
import type { Row, SqlCondition, SqliteDatabase } from '@fms/store-kit'
import type { FormRef } from '../forms-store.ts'

/** The condition that finds a form by reference; undefined if the reference is neither a UUID nor a public id. */
export const formByRef = ({ organizationId, formRef }: FormRef): SqlCondition | undefined => {
  if (isUuid(formRef))
    return { sql: 'organizationId = ? AND formId = ?', values: [organizationId, formRef.toLowerCase()] }
  if (isPublicId(formRef))
    return { sql: 'organizationId = ? AND publicId = ?', values: [organizationId, formRef] }
  return undefined
}

/** The row of a form. Indexes: the unique ones of forms. */
export const findForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined =>
  findIn(database, ref, columns, 'isDeleted = 0')

/** The row of a deleted form that can be restored. Indexes: as for `findForm`. */
export const findDeletedForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined =>
  findIn(database, ref, columns, 'isDeleted = 1')

/** The row of a form, deleted or not. Indexes: as for `findForm`. */
export const findAnyForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined =>
  findIn(database, ref, columns, 'TRUE')

const findIn = (database: SqliteDatabase, ref: FormRef, columns: string, state: string): Row | undefined => {
  const condition = formByRef(ref)
  return (
    condition &&
    database.get(`SELECT ${columns} FROM forms WHERE ${condition.sql} AND ${state}`, ...condition.values)
  )
}
