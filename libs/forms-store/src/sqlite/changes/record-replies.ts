import type { SqliteDatabase } from '@fms/store-kit'
import type { Replies } from '../../forms-store.ts'

/** Counts new replies in one transaction. Index: the key of replies. @returns how many were new. */
export const recordReplies = (
  database: SqliteDatabase,
  { organizationId, formId, replyIds }: Replies,
): Promise<number> =>
  database.write(() => {
    const sql = 'SELECT 1 FROM forms WHERE organizationId = ? AND formId = ?'
    if (!database.get(sql, organizationId, formId)) return 0
    let counted = 0
    for (const id of replyIds) {
      counted += database.run('INSERT OR IGNORE INTO replies VALUES (?, ?, ?)', organizationId, formId, id)
    }
    if (counted > 0) {
      const sql = 'UPDATE forms SET replyCount = replyCount + ? WHERE organizationId = ? AND formId = ?'
      database.run(sql, counted, organizationId, formId)
    }
    return counted
  })
