import type { FormPath } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import type { StoredRevision } from '../forms-store.ts'

/** Whether a form, deleted or not, has the public id. Indexes: the unique ones of publicId. */
export const isPublicIdTaken = (database: SqliteDatabase, publicId: string): boolean =>
  ['forms', 'deletedForms'].some((table) =>
    database.get(`SELECT 1 FROM ${table} WHERE publicId = ?`, publicId),
  )

/** Which of the tables of forms has a form. Indexes: the keys of both. */
export const tableOf = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
): 'forms' | 'deletedForms' | undefined =>
  (['forms', 'deletedForms'] as const).find((table) =>
    database.get(`SELECT 1 FROM ${table} WHERE organizationId = ? AND formId = ?`, organizationId, formId),
  )

/**
 * Frees the ids of a new revision from revisions that are being cleared. Runs in a transaction. Indexes: the key of
 * revisions, revisions_by_command.
 *
 * @returns the id that a revision of a form has, deleted or not; undefined if both are free.
 */
export const takeRevisionIds = (
  database: SqliteDatabase,
  { organizationId, revisionId, commandId }: StoredRevision,
): 'revisionId' | 'commandId' | undefined => {
  if (!takeId(database, 'revisionId = ?', revisionId)) return 'revisionId'
  if (!takeId(database, 'organizationId = ? AND commandId = ?', organizationId, commandId)) return 'commandId'
  return undefined
}

const takeId = (database: SqliteDatabase, condition: string, ...values: string[]): boolean => {
  const sql = `SELECT organizationId, formId, revisionId FROM revisions WHERE ${condition}`
  const found = database.get(sql, ...values)
  if (!found) return true
  if (tableOf(database, found as unknown as FormPath)) return false
  database.run('DELETE FROM revisions WHERE revisionId = ?', found.revisionId!)
  return true
}
