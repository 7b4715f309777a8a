import { type Row, type SqliteDatabase, writeConflict } from '@fms/store-kit'
import type { FormRef, Quota, Snapshot, StoredForm, StoredRevision } from '../../forms-store.ts'
import { findForm, readVersion, setForm } from '../find-form.ts'
import { findRevisionOfCommand } from '../find-revision.ts'
import { revisionColumns, toStoredForm } from '../rows.ts'
import { checkQuota } from '../usage.ts'

export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>
  beforeStoring: (() => void) | undefined
}

/**
 * One attempt to publish. `snapshot` runs outside of the transaction that stores the revision.
 * Index: revisions_by_command.
 */
export const publishForm = async (
  database: SqliteDatabase,
  quota: Quota,
  { ref, commandId, snapshot, beforeStoring }: PublishCommand,
): Promise<StoredForm | 'elsewhere' | undefined | typeof writeConflict> => {
  const row = findForm(database, ref)
  if (!row) return undefined
  const current = toStoredForm(row)
  const earlier = findRevisionOfCommand(database, current.organizationId, commandId, revisionKey)
  if (earlier) return finishPublish(database, ref, current, earlier)
  const taken = await snapshot(current)
  return database.write(() => {
    beforeStoring?.()
    return storeRevision(database, quota, row, { ...taken, commandId })
  })
}

const revisionKey = 'formId, revisionId, number'

/** Stores a snapshot as the live revision if the form is still as it was read. Runs in a transaction. */
const storeRevision = (
  database: SqliteDatabase,
  quota: Quota,
  read: Row,
  snapshot: Snapshot & { commandId: string },
): StoredForm | undefined | typeof writeConflict => {
  const current = toStoredForm(read)
  const { organizationId, formId } = current
  const row = readVersion(database, formId)
  if (!row) return undefined
  if (row.version !== read.version || row.revisionNumber !== read.revisionNumber) return writeConflict
  checkQuota(database, quota, organizationId, { forms: 0, bytes: Buffer.byteLength(snapshot.formJson) })
  const number = (row.revisionNumber as number) + 1
  const revision = { ...snapshot, organizationId, formId, number }
  if (!insertRevision(database, revision)) return writeConflict
  setForm(database, formId, {
    revisionNumber: number,
    liveNumber: number,
    liveRevisionId: revision.revisionId,
  })
  return { ...current, live: true }
}

/**
 * Inserts a revision in place of one that a deleted form left under the same command.
 *
 * @returns false when an existing form has a revision of the command.
 */
const insertRevision = (database: SqliteDatabase, revision: StoredRevision): boolean => {
  const insert = () => database.insert('revisions', revisionColumns(revision), '(organizationId, commandId)')
  if (insert()) return true
  const { organizationId, commandId } = revision
  if (findRevisionOfCommand(database, organizationId, commandId, revisionKey)) return false
  const sql = 'DELETE FROM revisions WHERE organizationId = ? AND commandId = ?'
  database.run(sql, organizationId, commandId)
  return insert()
}

/** Moves `live` to the revision that the command already has: an import may contain one that is not live yet. */
const finishPublish = async (
  database: SqliteDatabase,
  ref: FormRef,
  current: StoredForm,
  earlier: Row,
): Promise<StoredForm | 'elsewhere' | undefined> => {
  if (earlier.formId !== current.formId) return 'elsewhere'
  const { number, revisionId } = earlier
  await database.write(() => {
    const sql = 'UPDATE forms SET liveNumber = ?, liveRevisionId = ? WHERE formId = ? AND liveNumber < ?'
    database.run(sql, number!, revisionId!, current.formId, number!)
  })
  const row = findForm(database, ref)
  return row && toStoredForm(row)
}
