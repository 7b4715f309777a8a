import type { FormRecord } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import { toFormRecord } from '../../stored-form-record.ts'
import { type FormRow, toDeletion, toStoredForm, toStoredRevision } from '../../stored-rows.ts'

/** A form, deleted or not, with its revisions and replies. Indexes: revisions_by_number and the key of replies. */
export const readRecord = (database: SqliteDatabase, form: Row): FormRecord => {
  const id = form.id!
  const revisions = database.all('SELECT * FROM revisions WHERE incarnation = ? ORDER BY number', id)
  const replies = database.all('SELECT replyId FROM replies WHERE incarnation = ?', id)
  const sql = 'SELECT deleteTime, purgeTime, deleter FROM deletions WHERE incarnation = ?'
  const deletion = form.isDeleted === 1 ? database.get(sql, id) : undefined
  return toFormRecord(toStoredForm(form), {
    ...(form as unknown as FormRow),
    revisions: revisions.map((row) => toStoredRevision({ ...row, formId: form.formId! })),
    replyIds: replies.map(({ replyId }) => replyId as string),
    deletion: deletion && toDeletion(deletion),
  })
}
