import type { SqliteDatabase } from '@fms/store-kit'
import type { Quota, StoredForm } from '../../forms-store.ts'
import type { RecordEvent } from '../events/record-event.ts'
import { newFormColumns } from '../rows.ts'
import { checkQuota } from '../usage.ts'

/** Stores a new form. Runs in a transaction. @returns false when the public id is taken. */
export const createForm = (
  database: SqliteDatabase,
  quota: Quota,
  form: StoredForm,
  record: RecordEvent,
): boolean => {
  const growth = { forms: 1, bytes: Buffer.byteLength(form.draftJson) }
  checkQuota(database, quota, form.organizationId, growth)
  if (!database.insert('forms', newFormColumns(form), '(publicId)')) return false
  record(form, { type: 'form.created', after: form, time: form.createTime })
  return true
}
