import type { SqliteDatabase } from '@fms/store-kit'
import { undeleteChange } from '../../deletions/deletion.ts'
import type { FormRef, Quota, StoredForm } from '../../forms-store.ts'
import type { Recording } from '../events/record-event.ts'
import { findDeletedForm } from '../find-form.ts'
import { formColumns, toStoredForm } from '../rows.ts'
import { checkQuota } from '../usage.ts'

/** Moves a deleted form back to `forms` in one transaction. @returns undefined when there is no such deleted form. */
export const undeleteForm = (
  database: SqliteDatabase,
  quota: Quota,
  ref: FormRef,
  check: (deleted: StoredForm) => void,
  { record, checkRequest }: Recording,
): Promise<StoredForm | undefined> =>
  database.write(() => {
    checkRequest()
    const row = findDeletedForm(database, ref)
    if (!row) return undefined
    const form = toStoredForm(row)
    const { organizationId, formId } = form
    check(form)
    checkQuota(database, quota, organizationId, { forms: 1, bytes: 0 })
    const ofForm = 'FROM deletedForms WHERE organizationId = ? AND formId = ?'
    const copy = `INSERT OR FAIL INTO forms (${formColumns}) SELECT ${formColumns} ${ofForm}`
    database.run(copy, organizationId, formId)
    database.run(`DELETE ${ofForm}`, organizationId, formId)
    record(form, undeleteChange(form))
    return form
  })
