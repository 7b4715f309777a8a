import type { FormPath } from '@fms/contracts'
import { type Row, type SqliteDatabase, writeConflict } from '@fms/store-kit'
import { type EventForm, revisionMembers } from '../../events/recorded-event.ts'
import type { FormRef, Quota, Snapshot, StoredForm, StoredRevision, TakeSnapshot } from '../../forms-store.ts'
import type { RecordEvent } from '../events/record-event.ts'
import { findForm, readVersion, setForm } from '../find-form.ts'
import { findRevisionOfCommand } from '../revisions/find-revision.ts'
import { revisionColumns, stateColumns, toFormState, toStoredForm, toStoredRevision } from '../rows.ts'
import { takeRevisionIds } from '../taken-ids.ts'
import { checkQuota } from '../usage.ts'

/** A publish: what `FormsStore.publish` takes. */
export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: TakeSnapshot
  beforeStoring: (() => void) | undefined
  record: RecordEvent
}

/**
 * One attempt to publish. `snapshot` runs outside of the transaction that stores the revision.
 * Index: revisions_by_command.
 */
export const publishForm = async (
  database: SqliteDatabase,
  quota: Quota,
  { ref, commandId, snapshot, beforeStoring, record }: PublishCommand,
): Promise<StoredForm | 'elsewhere' | undefined | typeof writeConflict> => {
  const row = findForm(database, ref)
  if (!row) return undefined
  const current = toStoredForm(row)
  const earlier = findRevisionOfCommand(database, current.organizationId, commandId, revisionKey)
  if (earlier) return finishPublish(database, ref, current, earlier, record)
  const taken = await snapshot(current, async () => readLive(database, row))
  return database.write(() => {
    beforeStoring?.()
    return storeRevision(database, quota, row, { ...taken, commandId }, record)
  })
}

const revisionKey = 'formId, revisionId, number'

/** The revision that is live in a row of a form. Index: the unique one of revisionId. */
const readLive = (database: SqliteDatabase, { liveRevisionId }: Row): StoredRevision | undefined => {
  if (liveRevisionId === null) return undefined
  const row = database.get('SELECT * FROM revisions WHERE revisionId = ?', liveRevisionId!)
  return row && toStoredRevision(row)
}

/** Stores a snapshot as the live revision if the form is still as it was read. Runs in a transaction. */
const storeRevision = (
  database: SqliteDatabase,
  quota: Quota,
  read: Row,
  snapshot: Snapshot & { commandId: string },
  record: RecordEvent,
): StoredForm | 'elsewhere' | undefined | typeof writeConflict => {
  const current = toStoredForm(read)
  const { organizationId, formId } = current
  const row = readVersion(database, current)
  if (!row) return undefined
  if (hasChanged(row, read)) return writeConflict
  checkQuota(database, quota, organizationId, { forms: 0, bytes: Buffer.byteLength(snapshot.formJson) })
  const number = (row.revisionNumber as number) + 1
  const revision = { ...snapshot, organizationId, formId, number }
  // The next attempt finds the revision of the command.
  if (takeRevisionIds(database, revision)) return writeConflict
  database.insert('revisions', revisionColumns(revision))
  setForm(database, current, {
    revisionNumber: number,
    liveNumber: number,
    liveRevisionId: revision.revisionId,
  })
  const before = { ...current, replyCount: row.replyCount as number, live: row.liveRevisionId !== null }
  recordPublish(before, revision, revision.createTime, record)
  return { ...current, live: true }
}

/** Also after an unpublish: a snapshot that is earlier must not make the form live again. */
const hasChanged = (row: Row, read: Row): boolean =>
  row.version !== read.version ||
  row.revisionNumber !== read.revisionNumber ||
  row.liveRevisionId !== read.liveRevisionId

/** @param before the form before `live` moves to the revision. */
const recordPublish = (
  before: EventForm,
  revision: Pick<StoredRevision, 'revisionId' | 'number'>,
  time: Date,
  record: RecordEvent,
): void => {
  const more = revisionMembers(before, revision)
  record(before, { type: 'form.published', before, after: { ...before, live: true }, time, more })
}

/** Moves `live` to the revision that the command already has: an import may contain one that is not live yet. */
const finishPublish = async (
  database: SqliteDatabase,
  ref: FormRef,
  current: StoredForm,
  earlier: Row,
  record: RecordEvent,
): Promise<StoredForm | 'elsewhere' | undefined> => {
  if (earlier.formId !== current.formId) return 'elsewhere'
  const revision = { number: earlier.number as number, revisionId: earlier.revisionId as string }
  await database.write(() => moveLive(database, current, revision, record))
  const row = findForm(database, ref)
  return row && toStoredForm(row)
}

/** Moves `live` to a stored revision unless this or a later one is live. Runs in a transaction. */
const moveLive = (
  database: SqliteDatabase,
  form: FormPath,
  { number, revisionId }: Pick<StoredRevision, 'revisionId' | 'number'>,
  record: RecordEvent,
): void => {
  const sql = `SELECT ${stateColumns}, name FROM forms WHERE organizationId = ? AND formId = ? AND liveNumber < ?`
  const row = database.get(sql, form.organizationId, form.formId, number)
  if (!row) return
  setForm(database, form, { liveNumber: number, liveRevisionId: revisionId })
  const before = { ...toFormState(row), name: row.name as string }
  recordPublish(before, { number, revisionId }, new Date(), record)
}
