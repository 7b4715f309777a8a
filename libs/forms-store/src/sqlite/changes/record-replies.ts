import type { SqliteDatabase } from '@fms/store-kit'
import type { Replies } from '../../forms-store.ts'

/** Counts new replies in one transaction. Index: the key of replies. @returns how many were new. */
export const recordReplies = (
  database: SqliteDatabase,
  { organizationId, formId, replyIds }: Replies,
): Promise<number> =>
  database.write(() => {
    const sql = 'SELECT 1 FROM forms WHERE formId = ? AND organizationId = ?'
    if (!database.get(sql, formId, organizationId)) return 0
    let counted = 0
    for (const id of replyIds) {
      counted += database.run('INSERT OR IGNORE INTO replies VALUES (?, ?)', formId, id)
    }
    if (counted > 0) {
      database.run('UPDATE forms SET replyCount = replyCount + ? WHERE formId = ?', counted, formId)
    }
    return counted
  })
