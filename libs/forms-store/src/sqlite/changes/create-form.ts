import type { SqliteDatabase } from '@fms/store-kit'
import { formIdTaken } from '../../errors.ts'
import type { Quota, StoredForm } from '../../forms-store.ts'
import type { Recording } from '../events/record-event.ts'
import { newFormColumns } from '../rows.ts'
import { isPublicIdTaken, tableOf } from '../taken-ids.ts'
import { checkQuota } from '../usage.ts'

/** Stores a new form. Runs in a transaction. @returns undefined when the public id is taken. */
export const createForm = (
  database: SqliteDatabase,
  quota: Quota,
  form: StoredForm,
  { record, checkRequest }: Recording,
): StoredForm | undefined => {
  checkRequest()
  const owner = tableOf(database, form)
  if (owner) throw formIdTaken(form, owner === 'deletedForms')
  if (isPublicIdTaken(database, form.publicId)) return undefined
  checkQuota(database, quota, form.organizationId, { forms: 1, bytes: Buffer.byteLength(form.draftJson) })
  database.insert('forms', newFormColumns(form))
  record(form, { type: 'form.created', after: form, time: form.createTime })
  return form
}
