import type { FormPath } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormRef, FormState } from '../forms-store.ts'
import { formByRef, stateColumns, toFormState } from './rows.ts'

/** The row of a form. Indexes: the key of forms, and the unique one of publicId. */
export const findForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined =>
  findIn(database, 'forms', ref, columns)

/** The row of a deleted form that can be restored. Indexes: as for `findForm`. */
export const findDeletedForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined =>
  findIn(database, 'deletedForms', ref, columns)

const findIn = (database: SqliteDatabase, table: string, ref: FormRef, columns: string): Row | undefined => {
  const condition = formByRef(ref)
  return (
    condition && database.get(`SELECT ${columns} FROM ${table} WHERE ${condition.sql}`, ...condition.values)
  )
}

/** A form without its draft, which may be large. */
export const findFormState = (database: SqliteDatabase, ref: FormRef): FormState | undefined => {
  const row = findForm(database, ref, stateColumns)
  return row && toFormState(row)
}

/** The columns that a compare-and-set compares, and those that change without a new version. */
export const readVersion = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
): Row | undefined =>
  database.get(
    'SELECT version, revisionNumber, replyCount, liveRevisionId FROM forms WHERE organizationId = ? AND formId = ?',
    organizationId,
    formId,
  )

/** Sets columns of a form. `OR FAIL` as with inserts, because an update of the draft fires a trigger. */
export const setForm = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
  columns: Row,
): void => {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  database.run(
    `UPDATE OR FAIL forms SET ${assignments.join(', ')} WHERE organizationId = ? AND formId = ?`,
    ...Object.values(columns),
    organizationId,
    formId,
  )
}
