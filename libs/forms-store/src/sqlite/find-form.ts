import { type FormPath, isPublicId, isUuid } from '@fms/contracts'
import { type Row, readInPages, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import type { FormRef } from '../forms-store.ts'

/** The condition that finds a form by reference; undefined if the reference is neither a UUID nor a public id. */
export const formByRef = ({ organizationId, formRef }: FormRef): SqlCondition | undefined => {
  if (isUuid(formRef))
    return { sql: 'organizationId = ? AND formId = ?', values: [organizationId, formRef.toLowerCase()] }
  if (isPublicId(formRef))
    return { sql: 'organizationId = ? AND publicId = ?', values: [organizationId, formRef] }
  return undefined
}

/** The row of a form. Indexes: the unique ones of forms. @param isDeleted undefined to find it deleted or not. */
export const findForm = (
  database: SqliteDatabase,
  ref: FormRef,
  columns: string,
  isDeleted: boolean | undefined,
): Row | undefined => {
  const condition = formByRef(ref)
  if (!condition) return undefined
  const state = isDeleted === undefined ? 'TRUE' : `isDeleted = ${Number(isDeleted)}`
  return database.get(`SELECT ${columns} FROM forms WHERE ${condition.sql} AND ${state}`, ...condition.values)
}

interface FormEntry extends FormPath {
  publicId: string
  /** Absent for a deleted form. */
  revisionNumber: number
}

/** The forms of an organization, deleted ones or others. Indexes: forms_by_publicId, deletions_by_publicId. */
export const formsByPublicId = (
  database: SqliteDatabase,
  organizationId: string,
  isDeleted: boolean,
): AsyncGenerator<FormEntry> => {
  const from = isDeleted ? 'FROM deletions WHERE' : ', revisionNumber FROM forms WHERE isDeleted = 0 AND'
  const sql = `SELECT organizationId, formId, publicId ${from} organizationId = ? AND publicId > ?
    ORDER BY publicId LIMIT 500`
  return readInPages(
    (last) => database.all(sql, organizationId, last?.publicId ?? '') as unknown as FormEntry[],
  )
}
