import type { Row, SqliteDatabase } from '@fms/store-kit'
import { purgeChange } from '../../deletions/deletion.ts'
import type { FormRef, FormState } from '../../forms-store.ts'
import type { RecordEvent, Recording } from '../events/record-event.ts'
import { findDeletedForm } from '../find-form.ts'
import { stateColumns, toFormState } from '../rows.ts'
import { noteDeletion } from './clear-deletions.ts'

/** Bounds of one transaction: forms, and bytes of drafts. */
const maxForms = 100
const maxBytes = 4 * 1024 * 1024

const columns = `${stateColumns}, name`

/** Purges a deleted form in one transaction. @returns false when there is no such deleted form. */
export const purgeForm = (
  database: SqliteDatabase,
  ref: FormRef,
  check: (deleted: FormState) => void,
  { record, checkRequest }: Recording,
): Promise<boolean> =>
  database.write(() => {
    checkRequest()
    const row = findDeletedForm(database, ref, columns)
    if (!row) return false
    check(toFormState(row))
    purge(database, row, record)
    return true
  })

/** Whether the `purgeTime` of a form has passed. Index: deletedForms_by_purgeTime. */
export const isPurgeDue = (database: SqliteDatabase): boolean =>
  database.get('SELECT 1 FROM deletedForms WHERE purgeTime <= ?', Date.now()) !== undefined

/** Purges a batch of the forms whose `purgeTime` has passed. Runs in a transaction. Index: deletedForms_by_purgeTime. */
export const purgeDueForms = (database: SqliteDatabase, record: RecordEvent): void => {
  const due = database.all(
    `SELECT ${columns}, octet_length(draft) AS bytes FROM deletedForms WHERE purgeTime <= ?
     ORDER BY purgeTime LIMIT ? + 0`,
    Date.now(),
    maxForms,
  )
  let bytes = 0
  for (const row of due) {
    if (bytes >= maxBytes) return
    purge(database, row, record)
    bytes += row.bytes as number
  }
}

/** Leaves the revisions and replies to `clearDeletions`. */
const purge = (database: SqliteDatabase, row: Row, record: RecordEvent): void => {
  const form = toFormState(row)
  const { organizationId, formId } = form
  database.run('DELETE FROM deletedForms WHERE organizationId = ? AND formId = ?', organizationId, formId)
  noteDeletion(database, form)
  record({ ...form, name: row.name as string }, purgeChange())
}
