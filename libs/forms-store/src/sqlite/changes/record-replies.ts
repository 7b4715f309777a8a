import type { SqliteDatabase } from '@fms/store-kit'
import type { Replies } from '../../forms-store.ts'
import { tableOf } from '../taken-ids.ts'

/**
 * Counts new replies in one transaction, also those of a deleted form that can be restored. Index: the key of replies.
 *
 * @returns how many were new.
 */
export const recordReplies = (
  database: SqliteDatabase,
  { organizationId, formId, replyIds }: Replies,
): Promise<number> =>
  database.write(() => {
    const table = tableOf(database, { organizationId, formId })
    if (!table) return 0
    let counted = 0
    for (const id of replyIds) {
      counted += database.run('INSERT OR IGNORE INTO replies VALUES (?, ?, ?)', organizationId, formId, id)
    }
    if (counted > 0) {
      const sql = `UPDATE ${table} SET replyCount = replyCount + ? WHERE organizationId = ? AND formId = ?`
      database.run(sql, counted, organizationId, formId)
    }
    return counted
  })
