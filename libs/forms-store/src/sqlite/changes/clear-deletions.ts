import { type SqliteDatabase, writeConflict } from '@fms/store-kit'

/** Bounds of one transaction: rows, and bytes of revisions. */
const maxRows = 500
const maxBytes = 4 * 1024 * 1024

/** Records that a form is deleted. Runs in the transaction that deletes it. */
export const noteDeletion = (database: SqliteDatabase, organizationId: string, formId: string): void => {
  database.insert('deletions', { formId, organizationId, deleteTime: Date.now() })
}

/** Deletes the replies and revisions of every deleted form, one form after the other. */
export const clearDeletions = async (database: SqliteDatabase, signal: AbortSignal): Promise<void> => {
  const next = () => database.get('SELECT formId FROM deletions LIMIT 1')
  for (let found = next(); found && !signal.aborted; found = next()) {
    await clearForm(database, found.formId as string, signal)
  }
}

/** Runs a write that creates a form, after the remains of a deleted form with the same id are cleared. */
export const writeOnceCleared = async <T>(
  database: SqliteDatabase,
  formId: string,
  change: () => T,
): Promise<T> => {
  for (;;) {
    const outcome = await database.write(() => (isBeingCleared(database, formId) ? writeConflict : change()))
    if (outcome !== writeConflict) return outcome as T
    await clearForm(database, formId)
  }
}

/** Whether a form with this id is deleted and has remains to clear. */
const isBeingCleared = (database: SqliteDatabase, formId: string): boolean =>
  database.get('SELECT 1 FROM deletions WHERE formId = ?', formId) !== undefined

/** Deletes what a deleted form left in batches, one transaction each, and then its row in `deletions`. */
const clearForm = async (database: SqliteDatabase, formId: string, signal?: AbortSignal): Promise<void> => {
  while (!signal?.aborted && !(await database.write(() => clearBatch(database, formId)))) {
    // Yields to other requests between two batches.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** @returns whether nothing is left. Indexes: the key of replies and revisions_by_number. */
const clearBatch = (database: SqliteDatabase, formId: string): boolean => {
  // Another process may have finished, and the form may exist again.
  if (!isBeingCleared(database, formId)) return true
  const replies = 'SELECT replyId FROM replies WHERE formId = ? LIMIT ?'
  const cleared = database.run(
    `DELETE FROM replies WHERE formId = ? AND replyId IN (${replies})`,
    formId,
    formId,
    maxRows,
  )
  if (cleared === maxRows || !clearRevisions(database, formId)) return false
  database.run('DELETE FROM deletions WHERE formId = ?', formId)
  return true
}

/** @returns whether none are left. */
const clearRevisions = (database: SqliteDatabase, formId: string): boolean => {
  const found = database.all(
    'SELECT revisionId, octet_length(form) AS bytes FROM revisions WHERE formId = ? ORDER BY number LIMIT ?',
    formId,
    maxRows,
  )
  let bytes = 0
  for (const revision of found) {
    if (bytes >= maxBytes) return false
    database.run('DELETE FROM revisions WHERE revisionId = ?', revision.revisionId!)
    bytes += revision.bytes as number
  }
  return found.length < maxRows
}
