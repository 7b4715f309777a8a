import { type Row, type SqliteDatabase, writeConflict } from '@fms/store-kit'
import { draftChange, splitChange } from '../../events/recorded-event.ts'
import type { ChangedForm, FormRef, Quota, RestoredRevision, StoredForm } from '../../forms-store.ts'
import type { Recording } from '../events/record-event.ts'
import { findForm, readVersion, setForm } from '../find-form.ts'
import { draftColumns, toStoredForm } from '../rows.ts'
import { checkQuota } from '../usage.ts'

/**
 * One attempt to change a draft. `change` runs outside of the transaction that stores what it returns, so a repeat of the
 * request may be stored meanwhile.
 */
export const updateForm = async (
  database: SqliteDatabase,
  quota: Quota,
  ref: FormRef,
  change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
  { record, checkRequest }: Recording,
  restored?: RestoredRevision,
): Promise<StoredForm | undefined | typeof writeConflict> => {
  const row = findForm(database, ref)
  // After the read: whatever the form contains, a repeat that another process has carried out is found.
  checkRequest()
  if (!row) return undefined
  const current = toStoredForm(row)
  const changed = await change(current)
  if (changed === current) return current
  const { fields, form } = splitChange(current, changed)
  const event = draftChange(current, fields, restored)
  return database.write(() => {
    checkRequest()
    const stored = storeDraft(database, quota, form, row)
    if (stored && stored !== writeConflict) {
      const before = { ...stored, version: current.version }
      const time = stored.updateTime
      record(stored, { ...event, before, after: stored, time })
    }
    return stored
  })
}

/** Stores a changed draft if the form still has the version that was read. Runs in a transaction. */
const storeDraft = (
  database: SqliteDatabase,
  quota: Quota,
  changed: StoredForm,
  read: Row,
): StoredForm | undefined | typeof writeConflict => {
  const row = readVersion(database, changed)
  if (!row) return undefined
  if (row.version !== read.version) return writeConflict
  const bytes = Buffer.byteLength(changed.draftJson) - Buffer.byteLength(read.draft as string)
  checkQuota(database, quota, changed.organizationId, { forms: 0, bytes })
  setForm(database, changed, changedColumns(draftColumns(changed), read))
  return { ...changed, replyCount: row.replyCount as number, live: row.liveRevisionId !== null }
}

/** The columns whose values change: SQLite rewrites the indexes of every column that is set, even to the same value. */
const changedColumns = (columns: Row, row: Row): Row =>
  Object.fromEntries(Object.entries(columns).filter(([column, value]) => row[column] !== value))
