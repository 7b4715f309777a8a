import type { FormRecord } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import { toFormRecord } from '../../stored-form-record.ts'
import { toStoredForm, toStoredRevision } from '../rows.ts'

/** Index: forms_by_publicId. Reads one form at a time, each in one transaction. */
export async function* exportForms(
  database: SqliteDatabase,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  for (let after = ''; ; ) {
    const record = database.snapshot(() => {
      const row = database.get(
        'SELECT * FROM forms WHERE organizationId = ? AND publicId > ? ORDER BY publicId LIMIT 1',
        organizationId,
        after,
      )
      return row && readRecord(database, row)
    })
    if (!record) return
    yield record
    after = record.publicId
  }
}

/** The form with its revisions and replies. Indexes: revisions_by_number and the key of replies. */
export const readRecord = (database: SqliteDatabase, form: Row): FormRecord => {
  const revisions = database.all('SELECT * FROM revisions WHERE formId = ? ORDER BY number', form.formId!)
  const replies = database.all('SELECT replyId FROM replies WHERE formId = ?', form.formId!)
  return toFormRecord(toStoredForm(form), {
    revisionNumber: form.revisionNumber as number,
    liveNumber: form.liveNumber as number,
    liveRevisionId: form.liveRevisionId as string | null,
    revisions: revisions.map(toStoredRevision),
    replyIds: replies.map(({ replyId }) => replyId as string),
  })
}
