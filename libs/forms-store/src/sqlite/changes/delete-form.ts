import type { SqliteDatabase } from '@fms/store-kit'
import { type Deletion, deleteChange } from '../../deletions/deletion.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import type { Recording } from '../events/record-event.ts'
import { findForm } from '../find-form.ts'
import { deletionColumns, formColumns, stateColumns, toFormState } from '../rows.ts'
import { noteDeletion } from './clear-deletions.ts'

/**
 * Deletes a form in one transaction: moves it to `deletedForms`, or notes that its revisions and replies can be cleared.
 *
 * @param deletionAt the deletion at a time; undefined when the form cannot be restored.
 * @returns false when there is no such form.
 */
export const deleteForm = (
  database: SqliteDatabase,
  ref: FormRef,
  check: (current: FormState) => void,
  deletionAt: (time: Date) => Deletion | undefined,
  { record, checkRequest }: Recording,
): Promise<boolean> =>
  database.write(() => {
    checkRequest()
    const row = findForm(database, ref, `${stateColumns}, name`)
    if (!row) return false
    const form = toFormState(row)
    check(form)
    const time = new Date()
    const deletion = deletionAt(time)
    if (deletion) copyToDeletedForms(database, form, deletion)
    else noteDeletion(database, form)
    const { organizationId, formId } = form
    database.run('DELETE FROM forms WHERE organizationId = ? AND formId = ?', organizationId, formId)
    record({ ...form, name: row.name as string }, deleteChange(form, time, deletion))
    return true
  })

/** `OR FAIL` as with inserts. */
const copyToDeletedForms = (
  database: SqliteDatabase,
  { organizationId, formId }: FormState,
  deletion: Deletion,
): void => {
  const columns = deletionColumns(deletion)
  const names = Object.keys(columns)
  database.run(
    `INSERT OR FAIL INTO deletedForms (${formColumns}, ${names.join(', ')})
     SELECT ${formColumns}, ${names.map(() => '?').join(', ')} FROM forms WHERE organizationId = ? AND formId = ?`,
    ...Object.values(columns),
    organizationId,
    formId,
  )
}
