import type { SqliteDatabase } from '@fms/store-kit'
import type { FormRef, FormState } from '../../forms-store.ts'
import type { RecordEvent } from '../events/record-event.ts'
import { findForm } from '../find-form.ts'
import { stateColumns, toFormState } from '../rows.ts'
import { noteDeletion } from './clear-deletions.ts'

/**
 * Deletes the form in one transaction; `clearDeletions` deletes its revisions and replies later.
 *
 * @returns false when there is no such form.
 */
export const deleteForm = (
  database: SqliteDatabase,
  ref: FormRef,
  check: (current: FormState) => void,
  record: RecordEvent,
): Promise<boolean> =>
  database.write(() => {
    const row = findForm(database, ref, `${stateColumns}, name`)
    if (!row) return false
    const form = toFormState(row)
    check(form)
    database.run('DELETE FROM forms WHERE formId = ?', form.formId)
    noteDeletion(database, form.organizationId, form.formId)
    record({ ...form, name: row.name as string }, { type: 'form.deleted', before: form, time: new Date() })
    return true
  })
