import { foldCase } from '@fms/aip'
import type { SqliteDatabase } from '@fms/store-kit'
import type { Change, FormFields, FoundForm, NewForm } from '../../changes/change.ts'
import type { Deletion } from '../../changes/deletion.ts'
import { type EventForm, withSequence } from '../../events/recorded-event.ts'
import type { Quota, StoredForm } from '../../forms-store.ts'
import { appendEvent } from '../events/append-event.ts'
import { trigramTokens } from '../lists/trigram-tokens.ts'
import { draftColumns, revisionColumns } from '../rows.ts'
import { addUsage, checkRoom } from '../usage.ts'
import { findRequest, findRevisions, findTakenId, lastTimeOf } from './find-taken.ts'

/** Checks everything before the first statement that writes: an error after one rolls back the whole group commit. */
export const applyChange = (database: SqliteDatabase, quota: Quota, change: Change): boolean => {
  const { organizationId, event, context } = change
  if (!isAsFound(database, change) || hasTakenIds(database, change)) return false
  change.beforeStoring?.()
  checkRoom(database, quota, change)
  const incarnation = writeForm(database, change)
  for (const revision of change.revisions ?? [])
    database.insert('revisions', revisionColumns(revision, incarnation))
  for (const replyId of change.replyIds ?? []) database.insert('replies', { incarnation, replyId })
  const { eventBytes: _, ...growth } = change.growth
  addUsage(database, organizationId, { ...growth, deletedForms: growthOfDeletedForms(change) })
  if (event) appendEvent(database, change, (last) => withSequence(event, last + 1), context.request)
  return true
}

/** Indexes: the keys of forms, events_by_form. */
const isAsFound = (
  database: SqliteDatabase,
  { form, organizationId, formId, changeTime }: Change,
): boolean => {
  if ('insert' in form) {
    const { publicId } = form.insert.form
    const isLater = form.insert.hasNewId || lastTimeOf(database, { organizationId, formId }) < changeTime
    return isLater && !findTakenId(database, { organizationId, formId, publicId })
  }
  const { incarnation, changeTime: lastTime, replyCount } = form.found
  const row = database.get('SELECT changeTime, replyCount FROM forms WHERE id = ?', incarnation)
  return row?.changeTime === lastTime.getTime() && (!('remove' in form) || row.replyCount === replyCount)
}

const hasTakenIds = (database: SqliteDatabase, change: Change): boolean => {
  const { organizationId, revisions = [], context } = change
  return (
    (context.request && findRequest(database, organizationId, context.request)) !== undefined ||
    findRevisions(database, organizationId, revisions).length > 0
  )
}

const growthOfDeletedForms = ({ form }: Change): number => {
  if ('insert' in form) return form.insert.deletion ? 1 : 0
  const before = Number(form.found.isDeleted)
  if ('remove' in form) return -before
  return form.set.deletion === undefined ? 0 : Number(form.set.deletion !== null) - before
}

/** @returns the incarnation of the form. */
const writeForm = (database: SqliteDatabase, { form, changeTime }: Change): number => {
  if ('insert' in form) return insertForm(database, form.insert, changeTime)
  if ('set' in form) setForm(database, form.found, form.set, changeTime)
  else removeForm(database, form.found)
  return form.found.incarnation as number
}

const insertForm = (
  database: SqliteDatabase,
  { form, deletion, revisionNumber, liveNumber, liveRevisionId }: NewForm,
  changeTime: Date,
): number => {
  database.insert('forms', {
    organizationId: form.organizationId,
    formId: form.formId,
    publicId: form.publicId,
    isDeleted: Number(deletion !== undefined),
    createTime: form.createTime.getTime(),
    changeTime: changeTime.getTime(),
    replyCount: form.replyCount,
    revisionNumber,
    liveNumber,
    liveRevisionId,
    ...draftColumns(form),
  })
  const incarnation = database.get('SELECT last_insert_rowid() AS id')!.id as number
  indexName(database, incarnation, form)
  if (deletion) insertDeletion(database, incarnation, form, deletion)
  return incarnation
}

const setForm = (
  database: SqliteDatabase,
  found: FoundForm,
  { draft, deletion, ...live }: FormFields,
  changeTime: Date,
): void => {
  const incarnation = found.incarnation as number
  const isRenamed = draft && draft.name !== found.name
  const columns = {
    changeTime: changeTime.getTime(),
    ...live,
    ...(draft && draftColumns(draft, found)),
    ...(deletion !== undefined && { isDeleted: Number(deletion !== null) }),
  }
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  const sql = `UPDATE OR FAIL forms SET ${assignments.join(', ')} WHERE id = ?`
  database.run(sql, ...Object.values(columns), incarnation)
  if (isRenamed) {
    removeName(database, incarnation)
    indexName(database, incarnation, draft)
  }
  if (deletion === null) removeDeletion(database, incarnation)
  else if (deletion) insertDeletion(database, incarnation, found, deletion)
}

/** Leaves revisions and replies to `clearRemains`. */
const removeForm = (database: SqliteDatabase, { organizationId, incarnation }: FoundForm): void => {
  database.run('DELETE FROM forms WHERE id = ?', incarnation)
  removeName(database, incarnation as number)
  database.insert('remains', { incarnation, organizationId })
  removeDeletion(database, incarnation as number)
}

const insertDeletion = (
  database: SqliteDatabase,
  incarnation: number,
  { organizationId, formId, publicId, name }: EventForm,
  { deleteTime, purgeTime, deleter }: Deletion,
): void => {
  const times = { deleteTime: deleteTime.getTime(), purgeTime: purgeTime.getTime() }
  database.insert('deletions', { incarnation, organizationId, formId, publicId, name, ...times, deleter })
}

const removeDeletion = (database: SqliteDatabase, incarnation: number): void => {
  database.run('DELETE FROM deletions WHERE incarnation = ?', incarnation)
}

/** FTS5 needs an integer, and the driver binds numbers as doubles. */
const indexName = (
  database: SqliteDatabase,
  incarnation: number,
  { organizationId, name }: Pick<StoredForm, 'organizationId' | 'name'>,
): void => {
  const tokens = trigramTokens(organizationId, foldCase(name))
  const sql = 'INSERT INTO formTrigrams (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)'
  database.run(sql, incarnation, tokens)
}

const removeName = (database: SqliteDatabase, incarnation: number): void => {
  database.run('DELETE FROM formTrigrams WHERE rowid = CAST(? AS INTEGER)', incarnation)
}
