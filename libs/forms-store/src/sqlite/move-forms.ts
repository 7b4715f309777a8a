import type { FormRecord } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import { formConflict } from '../errors.ts'
import type { Imported } from '../forms-store.ts'
import {
  assertSameRecord,
  fromFormRecord,
  revisionStateOf,
  revisionsOf,
  toFormRecord,
} from '../stored-form-record.ts'
import { newFormColumns, revisionColumns, toStoredForm, toStoredRevision } from './rows.ts'

/** Index: forms_by_publicId. One form at a time is in memory, and each is read in one transaction. */
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
      return row && toRecord(database, row)
    })
    if (!record) return
    yield record
    after = record.publicId
  }
}

/** Part of a change: what it throws leaves nothing of the form. */
export const importForm = (database: SqliteDatabase, record: FormRecord): Imported => {
  const { organizationId, formId, publicId } = record
  const stored = database.get('SELECT * FROM forms WHERE formId = ?', formId)
  if (stored) {
    if (stored.organizationId !== organizationId) throw formConflict(record, 'formId', formId)
    return assertSameRecord(toRecord(database, stored), record)
  }
  if (database.get('SELECT 1 FROM forms WHERE publicId = ?', publicId)) {
    throw formConflict(record, 'publicId', publicId)
  }
  database.insert('forms', { ...newFormColumns(fromFormRecord(record)), ...revisionStateOf(record) })
  for (const revision of revisionsOf(record)) {
    const { revisionId, commandId } = revision
    if (isTaken(database, 'revisionId = ?', revisionId)) {
      throw formConflict(record, 'revisionId', revisionId)
    }
    if (isTaken(database, 'organizationId = ? AND commandId = ?', organizationId, commandId)) {
      throw formConflict(record, 'commandId', commandId)
    }
    database.insert('revisions', revisionColumns(revision))
  }
  for (const replyId of record.replyIds) database.insert('replies', { formId, replyId })
  return 'imported'
}

/** Whether there is such a revision. That of a deleted form gives way. */
const isTaken = (database: SqliteDatabase, condition: string, ...values: string[]): boolean => {
  const found = database.get(`SELECT formId, revisionId FROM revisions WHERE ${condition}`, ...values)
  if (!found) return false
  if (database.get('SELECT 1 FROM forms WHERE formId = ?', found.formId!)) return true
  database.run('DELETE FROM revisions WHERE revisionId = ?', found.revisionId!)
  return false
}

/** Indexes: revisions_by_number and the key of replies. */
const toRecord = (database: SqliteDatabase, form: Row): FormRecord => {
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
