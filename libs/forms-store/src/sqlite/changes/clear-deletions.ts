import type { FormPath } from '@fms/contracts'
import { type SqliteDatabase, writeConflict } from '@fms/store-kit'
import { clearingUnfinished } from '../../errors.ts'

/** Bounds of one transaction: rows, and bytes of revisions. */
const maxRows = 500
const maxBytes = 4 * 1024 * 1024

/** The condition of all statements below. */
const ofForm = 'WHERE organizationId = ? AND formId = ?'

/** Records that a form is gone for good. Runs in the transaction that deletes or purges it. */
export const noteDeletion = (database: SqliteDatabase, { organizationId, formId }: FormPath): void => {
  database.insert('deletions', { organizationId, formId })
}

/** Deletes the replies and revisions of every form in `deletions`, one form after the other. */
export const clearDeletions = async (database: SqliteDatabase, signal: AbortSignal): Promise<void> => {
  const next = () => database.get('SELECT organizationId, formId FROM deletions LIMIT 1')
  for (let found = next(); found && !signal.aborted; found = next()) {
    await clearForm(database, found as unknown as FormPath, signal)
  }
}

/**
 * Runs a write that creates a form, after the remains of a deleted form with the same id are cleared.
 *
 * @param maxClearingMs how long to clear, in milliseconds. Unlimited by default.
 * @throws {ApiError} UPDATE_ABORTED when the time has passed. What was cleared stays cleared.
 */
export const writeOnceCleared = async <T>(
  database: SqliteDatabase,
  form: FormPath,
  change: () => T,
  maxClearingMs?: number,
): Promise<T> => {
  let limit: AbortSignal | undefined
  for (;;) {
    const outcome = await database.write(() => (isBeingCleared(database, form) ? writeConflict : change()))
    if (outcome !== writeConflict) return outcome as T
    if (limit?.aborted) throw clearingUnfinished(form)
    if (maxClearingMs !== undefined) limit ??= AbortSignal.timeout(maxClearingMs)
    await clearForm(database, form, limit)
  }
}

/** Whether a form with this id is deleted and has remains to clear. */
const isBeingCleared = (database: SqliteDatabase, { organizationId, formId }: FormPath): boolean =>
  database.get(`SELECT 1 FROM deletions ${ofForm}`, organizationId, formId) !== undefined

/** Deletes what a deleted form left in batches, one transaction each, and then its row in `deletions`. */
const clearForm = async (database: SqliteDatabase, form: FormPath, signal?: AbortSignal): Promise<void> => {
  while (!signal?.aborted && !(await database.write(() => clearBatch(database, form)))) {
    // Yields to other requests between two batches.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** @returns whether nothing is left. Indexes: the key of replies and revisions_by_number. */
const clearBatch = (database: SqliteDatabase, form: FormPath): boolean => {
  // Another process may have finished, and the form may exist again.
  if (!isBeingCleared(database, form)) return true
  const path = [form.organizationId, form.formId] as const
  const replies = `SELECT replyId FROM replies ${ofForm} LIMIT ?`
  const sql = `DELETE FROM replies ${ofForm} AND replyId IN (${replies})`
  const cleared = database.run(sql, ...path, ...path, maxRows)
  if (cleared === maxRows || !clearRevisions(database, path)) return false
  database.run(`DELETE FROM deletions ${ofForm}`, ...path)
  return true
}

/** @returns whether none are left. */
const clearRevisions = (database: SqliteDatabase, path: readonly [string, string]): boolean => {
  const sql = `SELECT revisionId, octet_length(form) AS bytes FROM revisions ${ofForm} ORDER BY number LIMIT ?`
  const found = database.all(sql, ...path, maxRows)
  let bytes = 0
  for (const revision of found) {
    if (bytes >= maxBytes) return false
    database.run('DELETE FROM revisions WHERE revisionId = ?', revision.revisionId!)
    bytes += revision.bytes as number
  }
  return found.length < maxRows
}
