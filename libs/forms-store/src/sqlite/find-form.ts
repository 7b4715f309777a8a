import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormRef, FormState } from '../forms-store.ts'
import { formByRef, stateColumns, toFormState } from './rows.ts'

/** The row of a form. Indexes: the unique ones of formId and publicId. */
export const findForm = (database: SqliteDatabase, ref: FormRef, columns = '*'): Row | undefined => {
  const condition = formByRef(ref)
  return condition && database.get(`SELECT ${columns} FROM forms WHERE ${condition.sql}`, ...condition.values)
}

/** A form without its draft, which may be large. */
export const findFormState = (database: SqliteDatabase, ref: FormRef): FormState | undefined => {
  const row = findForm(database, ref, stateColumns)
  return row && toFormState(row)
}

/** The columns that a compare-and-set compares, and those that change without a new version. */
export const readVersion = (database: SqliteDatabase, formId: string): Row | undefined =>
  database.get(
    'SELECT version, revisionNumber, replyCount, liveRevisionId FROM forms WHERE formId = ?',
    formId,
  )

/** Sets columns of a form. `OR FAIL` as with inserts, because an update of the draft fires a trigger. */
export const setForm = (database: SqliteDatabase, formId: string, columns: Row): void => {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  database.run(
    `UPDATE OR FAIL forms SET ${assignments.join(', ')} WHERE formId = ?`,
    ...Object.values(columns),
    formId,
  )
}
