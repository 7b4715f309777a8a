import type { FormRecord } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import { toDeletionRecord } from '../../deletions/deletion.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { toDeletion, toStoredForm, toStoredRevision } from '../rows.ts'

/** Forms, and then the deleted ones that can be restored. Indexes: forms_by_publicId, deletedForms_by_publicId. */
export async function* exportForms(
  database: SqliteDatabase,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  yield* exportTable(database, 'forms', organizationId, readRecord)
  yield* exportTable(database, 'deletedForms', organizationId, readDeletedRecord)
}

/** Reads one form at a time, each in one transaction. */
async function* exportTable(
  database: SqliteDatabase,
  table: string,
  organizationId: string,
  read: (database: SqliteDatabase, form: Row) => FormRecord,
): AsyncGenerator<FormRecord> {
  const sql = `SELECT * FROM ${table} WHERE organizationId = ? AND publicId > ? ORDER BY publicId LIMIT 1`
  for (let after = ''; ; ) {
    const record = database.snapshot(() => {
      const row = database.get(sql, organizationId, after)
      return row && read(database, row)
    })
    if (!record) return
    yield record
    after = record.publicId
  }
}

/** The form with its revisions and replies. Indexes: revisions_by_number and the key of replies. */
export const readRecord = (database: SqliteDatabase, form: Row): FormRecord => {
  const of = 'WHERE organizationId = ? AND formId = ?'
  const path = [form.organizationId!, form.formId!]
  const revisions = database.all(`SELECT * FROM revisions ${of} ORDER BY number`, ...path)
  const replies = database.all(`SELECT replyId FROM replies ${of}`, ...path)
  return toFormRecord(toStoredForm(form), {
    revisionNumber: form.revisionNumber as number,
    liveNumber: form.liveNumber as number,
    liveRevisionId: form.liveRevisionId as string | null,
    revisions: revisions.map(toStoredRevision),
    replyIds: replies.map(({ replyId }) => replyId as string),
  })
}

/** A deleted form with its revisions and replies. */
export const readDeletedRecord = (database: SqliteDatabase, form: Row): FormRecord => ({
  ...readRecord(database, form),
  deletion: toDeletionRecord(toDeletion(form)),
})
