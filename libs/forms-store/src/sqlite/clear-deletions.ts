import type { SqliteDatabase } from '@fms/store-kit'

/** So much one transaction clears at the most: rows, and bytes of revisions. */
const maxRows = 500
const maxBytes = 4 * 1024 * 1024

/** Notes that a form is gone. Part of the change that deletes it. */
export const noteDeletion = (database: SqliteDatabase, organizationId: string, formId: string): void => {
  database.insert('deletions', { formId, organizationId, deleteTime: Date.now() })
}

/** Whether a form of this id is gone and not cleared yet. */
export const isBeingCleared = (database: SqliteDatabase, formId: string): boolean =>
  database.get('SELECT 1 FROM deletions WHERE formId = ?', formId) !== undefined

/** Clears what forms that are gone have left, one after the other. */
export const clearDeletions = async (database: SqliteDatabase, signal: AbortSignal): Promise<void> => {
  const next = () => database.get('SELECT formId FROM deletions LIMIT 1')
  for (let found = next(); found && !signal.aborted; found = next()) {
    await clearForm(database, found.formId as string, signal)
  }
}

/** Clears the replies and revisions of a form that is gone, a batch in each transaction, and then the note of it. */
export const clearForm = async (
  database: SqliteDatabase,
  formId: string,
  signal?: AbortSignal,
): Promise<void> => {
  while (!signal?.aborted && !(await database.write(() => clearBatch(database, formId)))) {
    // Others have a turn between two batches.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** @returns whether nothing is left. Indexes: the key of replies and revisions_by_number. */
const clearBatch = (database: SqliteDatabase, formId: string): boolean => {
  // Another process was faster, and the form may be there again.
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
