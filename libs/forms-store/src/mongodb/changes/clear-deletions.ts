import { operatorContext } from '../../events/recorded-event.ts'
import type { RestorableNote } from '../deleted-forms/find-deleted.ts'
import { findRestored } from '../deleted-forms/find-restored.ts'
import { purgeNote } from '../deleted-forms/purge-form.ts'
import { removeRemnant } from '../deleted-forms/remove-remnant.ts'
import type { DeletionDocument, FormsCollections, Incarnation, RevisionDocument } from '../documents.ts'
import type { ChangeRecorder } from '../events/record-event.ts'
import { formByIdEach } from '../form-queries.ts'
import { addUsage } from '../usage.ts'
import { release } from './reservations.ts'

/** Documents that one request deletes at most. */
const maxBatch = 500

/**
 * Time between the two clearings of an incarnation, in milliseconds. A change that found the form before its delete may
 * store something after the first clearing, and be killed before it notices that the form is gone. No request takes
 * this long.
 */
const secondClearingMs = 10 * 60_000

/** How old the note of an import, or of a delete by release 0.1.0, is when its attempt is over, in milliseconds. */
const attemptLimitMs = 60 * 60_000

/** The fields that clearing reads. */
const noteFields = [
  'organizationId',
  'formId',
  'incarnation',
  'publicId',
  'beginTime',
  'isCleared',
  'eventNumber',
  'isConfirmed',
  'deleteTime',
  'purgeTime',
  'checkTime',
  'bytes',
] as const

/**
 * Purges the deleted forms whose time has come, clears every incarnation that is due and has no form, and removes what
 * killed undeletes have left. Skips one that fails; the next run retries it. Indexes: deletions_by_clearTime,
 * deletions_by_checkTime.
 *
 * @param now milliseconds since the epoch.
 * @param onRecorded called for each event of a purge.
 */
export const clearDeletions = async (
  collections: FormsCollections,
  signal: AbortSignal,
  now = Date.now(),
  onRecorded: ChangeRecorder['onRecorded'] = () => {},
): Promise<void> => {
  const { deletions } = collections
  const recorder = { context: operatorContext, onRecorded }
  for await (const note of deletions.find({ clearTime: { $lte: now } }, { fields: noteFields })) {
    if (signal.aborted) return
    await clearNote(collections, note, recorder, signal).catch(() => {})
  }
  const isDue = { checkTime: { $gt: 0, $lte: now } }
  for await (const note of deletions.find(isDue, { fields: noteFields })) {
    if (signal.aborted) return
    await checkNote(collections, note).catch(() => {})
  }
}

/** Purges the form of a note first, if it can be restored. Removes the note of a killed attempt once its form has changed. */
const clearNote = async (
  collections: FormsCollections,
  note: DeletionDocument,
  recorder: ChangeRecorder,
  signal: AbortSignal,
): Promise<void> => {
  if (!note.deleteTime) {
    if (await removeLeftover(collections, note)) return
    const form = note.purgeTime ? await findRestored(collections, note) : undefined
    return form ? removeRemnant(collections, note, form) : clearIncarnation(collections, note, signal)
  }
  const { _id, organizationId } = note
  const found = await collections.deletions.findOne({ _id, organizationId, deleteTime: { $gt: 0 } })
  if (!found || !(await purgeNote(collections, found as RestorableNote, recorder))) return
  return clearIncarnation(collections, { ...note, purgeTime: 0 }, signal)
}

/**
 * Removes the note of an import, or of a delete by release 0.1.0, that was killed long ago while its form exists: if the form
 * is deleted so that it can be restored, release 0.1.0 would clear the form because of such a note.
 *
 * @returns whether the note is gone.
 */
const removeLeftover = async (
  collections: FormsCollections,
  { _id, eventNumber, beginTime, ...incarnation }: DeletionDocument,
): Promise<boolean> => {
  if (eventNumber !== undefined || beginTime > Date.now() - attemptLimitMs) return false
  const { organizationId } = incarnation
  return (await exists(collections, incarnation)) && collections.deletions.deleteOne({ organizationId, _id })
}

/** Looks once for a form that exists beside its confirmed note. */
const checkNote = async (collections: FormsCollections, note: DeletionDocument): Promise<void> => {
  const form = await findRestored(collections, note)
  if (form) return removeRemnant(collections, note, form)
  const { _id, organizationId, checkTime } = note
  await collections.deletions.set({ _id, organizationId, checkTime: checkTime! }, { checkTime: 0 })
}

/**
 * Deletes everything that belongs to an incarnation without a form. One that cannot be restored never has a form again, apart
 * from late inserts, so nothing can be restored meanwhile.
 */
export const clearIncarnation = async (
  collections: FormsCollections,
  deletion: DeletionDocument,
  signal?: AbortSignal,
): Promise<void> => {
  const { deletions, publicIds } = collections
  const { _id, organizationId, publicId, isCleared } = deletion
  if (await exists(collections, deletion)) return removeLateForm(collections, deletion)
  if (!(await isGoneForGood(collections, deletion))) return
  await release(publicIds, publicId, deletion)
  await subtractDraft(collections, deletion)
  for (const clearBatch of [clearReplies, clearRevisions, clearCommands]) {
    while (await clearBatch(collections, deletion)) if (signal?.aborted) return
  }
  // The events of the note have to be in the log first.
  const isCollected = { $in: [0, null] }
  if (isCleared && (await deletions.deleteOne({ organizationId, _id, collectTime: isCollected }))) return
  const clearTime = Date.now() + secondClearingMs
  await deletions.set({ organizationId, _id }, { isCleared: true, clearTime })
}

/**
 * Removes a form that a late insert has stored after a delete for good. Without a confirmed note, the delete is in progress,
 * was killed before it deleted the form, or lost to another change.
 */
const removeLateForm = async (collections: FormsCollections, note: DeletionDocument): Promise<void> => {
  const form = note.isConfirmed ? await findRestored(collections, note) : undefined
  if (form) await removeRemnant(collections, note, form)
}

/** Whether the form exists, as a majority has confirmed. A failover may take back a delete that no majority has. */
const exists = async ({ forms }: FormsCollections, note: Incarnation): Promise<boolean> => {
  const { incarnation } = note
  return (await forms.confirmEach(formByIdEach(note).map((key) => ({ ...key, incarnation })))) > 0
}

/**
 * Whether nothing can restore the form of a note: it is known to have deleted the form for good, or no note of the
 * incarnation has the form. Such a note may be that of a killed attempt, of an import, or of release 0.1.0.
 */
const isGoneForGood = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation, isConfirmed, purgeTime = 0 }: DeletionDocument,
): Promise<boolean> => {
  if (isConfirmed && purgeTime === 0) return true
  const restorable = { organizationId, formId, incarnation, purgeTime: { $gt: 0 } }
  if (await collections.deletions.has(restorable)) return false
  // An undelete may have removed the note meanwhile.
  return !(await exists(collections, { organizationId, formId, incarnation }))
}

/** Subtracts the draft of a purged form from the usage, once. */
const subtractDraft = async (
  collections: FormsCollections,
  { _id, organizationId, bytes = 0 }: DeletionDocument,
): Promise<void> => {
  if (bytes === 0 || !(await collections.deletions.set({ organizationId, _id, bytes }, { bytes: 0 }))) return
  await addUsage(collections, organizationId, { forms: 0, bytes: -bytes })
}

/** @returns whether there may be more. Index: replies_by_incarnation. */
const clearReplies = async (
  { replies }: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<boolean> => {
  const all = { organizationId, formId, incarnation }
  const found = await Array.fromAsync(replies.find(all, { limit: maxBatch, fields: ['_id'] }))
  if (found.length === 0) return false
  await replies.deleteMany({ ...all, _id: { $in: found.map(({ _id }) => _id) } })
  return found.length === maxBatch
}

/** @returns whether there may be more. Index: revisions_by_incarnation. */
const clearRevisions = async (collections: FormsCollections, incarnation: Incarnation): Promise<boolean> => {
  const { organizationId, formId, incarnation: id } = incarnation
  const all = { organizationId, formId, incarnation: id }
  const fields = ['bytes', 'number', 'isCancelled'] as const
  const found = await Array.fromAsync(collections.revisions.find(all, { limit: maxBatch, fields }))
  const cancelled = found.filter(({ isCancelled }) => isCancelled)
  const counted = found.filter(({ isCancelled }) => !isCancelled)
  // The publish that has stored the last revision may remove it at the same time.
  const lastNumber = Math.max(...counted.map(({ number }) => number))
  const last = counted.filter(({ number }) => number === lastNumber)
  const others = counted.filter(({ number }) => number < lastNumber)
  if (cancelled.length > 0)
    await collections.revisions.deleteMany({ ...all, _id: { $in: cancelled.map(({ _id }) => _id) } })
  await deleteRevisions(collections, incarnation, last)
  await deleteRevisions(collections, incarnation, others)
  return found.length === maxBatch
}

/**
 * Deletes revisions, and subtracts them from the usage, unless another process deletes or cancels some of them: usage stays
 * too high rather than too low. The usage does not contain cancelled ones.
 */
const deleteRevisions = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
  revisions: readonly Pick<RevisionDocument, '_id' | 'bytes'>[],
): Promise<void> => {
  if (revisions.length === 0) return
  const ids = revisions.map(({ _id }) => _id)
  const all = { organizationId, formId, incarnation, isCancelled: null, _id: { $in: ids } }
  if ((await collections.revisions.deleteMany(all)) < revisions.length) return
  const bytes = revisions.reduce((sum, revision) => sum + revision.bytes, 0)
  await addUsage(collections, organizationId, { forms: 0, bytes: -bytes, revisions: -revisions.length })
}

/** @returns whether there may be more. Index: commands_by_form. */
const clearCommands = async (
  { commands }: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<boolean> => {
  const all = { organizationId, formId, incarnations: incarnation }
  const found = await Array.fromAsync(commands.find(all, { limit: maxBatch, fields: ['incarnations'] }))
  if (found.length === 0) return false
  const [alone, others] = [
    found.filter(({ incarnations }) => incarnations.length === 1),
    found.filter(({ incarnations }) => incarnations.length > 1),
  ]
  if (alone.length > 0) {
    const ids = alone.map(({ _id }) => _id)
    await commands.deleteMany({ organizationId, formId, incarnations: [incarnation], _id: { $in: ids } })
  }
  for (const { _id } of others) await release(commands, _id, { organizationId, formId, incarnation })
  return found.length === maxBatch
}
