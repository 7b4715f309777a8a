import type { SqliteDatabase } from '@fms/store-kit'
import type { FormRef, FormState } from '../../forms-store.ts'
import { findFormState } from '../find-form.ts'
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
): Promise<boolean> =>
  database.write(() => {
    const form = findFormState(database, ref)
    if (!form) return false
    check(form)
    database.run('DELETE FROM forms WHERE formId = ?', form.formId)
    noteDeletion(database, form.organizationId, form.formId)
    return true
  })
