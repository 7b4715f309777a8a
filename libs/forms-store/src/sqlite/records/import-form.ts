import type { FormRecord } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import { formConflict } from '../../errors.ts'
import type { Imported, StoredRevision } from '../../forms-store.ts'
import { assertSameRecord, fromFormRecord, revisionStateOf, revisionsOf } from '../../stored-form-record.ts'
import type { RecordEvent } from '../events/record-event.ts'
import { newFormColumns, revisionColumns } from '../rows.ts'
import { readRecord } from './export-forms.ts'

/**
 * Stores a form, its revisions and its replies. Runs in a transaction: an error leaves nothing of the form.
 *
 * @param recordEvent records `form.imported`; undefined for an import without an event.
 */
export const importForm = (
  database: SqliteDatabase,
  record: FormRecord,
  recordEvent: RecordEvent | undefined,
): Imported => {
  const { organizationId, formId, publicId } = record
  const stored = database.get('SELECT * FROM forms WHERE formId = ?', formId)
  if (stored) {
    if (stored.organizationId !== organizationId) throw formConflict(record, 'formId', formId)
    return assertSameRecord(readRecord(database, stored), record)
  }
  if (database.get('SELECT 1 FROM forms WHERE publicId = ?', publicId)) {
    throw formConflict(record, 'publicId', publicId)
  }
  const form = fromFormRecord(record)
  database.insert('forms', { ...newFormColumns(form), ...revisionStateOf(record) })
  for (const revision of revisionsOf(record)) insertRevision(database, revision)
  for (const replyId of record.replyIds) database.insert('replies', { formId, replyId })
  recordEvent?.(form, { type: 'form.imported', after: form, time: new Date() })
  return 'imported'
}

/** @throws {ApiError} FORM_CONFLICT when another form has the revision or its command. */
const insertRevision = (database: SqliteDatabase, revision: StoredRevision): void => {
  const { organizationId, revisionId, commandId } = revision
  if (isTaken(database, 'revisionId = ?', revisionId)) {
    throw formConflict(revision, 'revisionId', revisionId)
  }
  if (isTaken(database, 'organizationId = ? AND commandId = ?', organizationId, commandId)) {
    throw formConflict(revision, 'commandId', commandId)
  }
  database.insert('revisions', revisionColumns(revision))
}

/** Whether an existing form has such a revision. Deletes one that a deleted form left. */
const isTaken = (database: SqliteDatabase, condition: string, ...values: string[]): boolean => {
  const found = database.get(`SELECT formId, revisionId FROM revisions WHERE ${condition}`, ...values)
  if (!found) return false
  if (database.get('SELECT 1 FROM forms WHERE formId = ?', found.formId!)) return true
  database.run('DELETE FROM revisions WHERE revisionId = ?', found.revisionId!)
  return false
}
