import type { FormPath, FormRecord } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import { fromDeletionRecord, importChange } from '../../deletions/deletion.ts'
import { formConflict } from '../../errors.ts'
import type { Imported, StoredRevision } from '../../forms-store.ts'
import { assertSameRecord, fromFormRecord, revisionStateOf, revisionsOf } from '../../stored-form-record.ts'
import type { RecordEvent } from '../events/record-event.ts'
import { findDeletedForm, findForm } from '../find-form.ts'
import { deletionColumns, newFormColumns, revisionColumns } from '../rows.ts'
import { isPublicIdTaken, takeRevisionIds } from '../taken-ids.ts'
import { readDeletedRecord, readRecord } from './export-forms.ts'

/**
 * Stores a form, or a deleted one, with its revisions and its replies. Runs in a transaction: an error leaves nothing of
 * the form.
 *
 * @param recordEvent records `form.imported`; undefined for an import without an event.
 */
export const importForm = (
  database: SqliteDatabase,
  record: FormRecord,
  recordEvent: RecordEvent | undefined,
): Imported => {
  const { organizationId, formId, publicId } = record
  const stored = findRecord(database, record)
  if (stored) return assertSameRecord(stored, record)
  if (isPublicIdTaken(database, publicId)) throw formConflict(record, 'publicId', publicId)
  const form = fromFormRecord(record)
  const columns = { ...newFormColumns(form), ...revisionStateOf(record) }
  const deletion = record.deletion && fromDeletionRecord(record.deletion)
  if (deletion) database.insert('deletedForms', { ...columns, ...deletionColumns(deletion) })
  else database.insert('forms', columns)
  for (const revision of revisionsOf(record)) insertRevision(database, revision)
  for (const replyId of record.replyIds) database.insert('replies', { organizationId, formId, replyId })
  recordEvent?.(form, importChange(form, deletion))
  return 'imported'
}

/** The record of a form, deleted or not. */
const findRecord = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
): FormRecord | undefined => {
  const ref = { organizationId, formRef: formId }
  const form = findForm(database, ref)
  if (form) return readRecord(database, form)
  const deleted = findDeletedForm(database, ref)
  return deleted && readDeletedRecord(database, deleted)
}

/** @throws {ApiError} FORM_CONFLICT when another form has the revision or its command. */
const insertRevision = (database: SqliteDatabase, revision: StoredRevision): void => {
  const taken = takeRevisionIds(database, revision)
  if (taken) throw formConflict(revision, taken, revision[taken])
  database.insert('revisions', revisionColumns(revision))
}
