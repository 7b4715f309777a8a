import type { DeletionDocument, FormsCollections, Incarnation } from '../documents.ts'
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

/**
 * Clears every incarnation that is due and has no form. Skips one whose clearing fails; the next run retries it. Index:
 * deletions_by_clearTime.
 *
 * @param now milliseconds since the epoch.
 */
export const clearDeletions = async (
  collections: FormsCollections,
  signal: AbortSignal,
  now = Date.now(),
): Promise<void> => {
  for await (const deletion of collections.deletions.find({ clearTime: { $lte: now } })) {
    if (signal.aborted) return
    await clearIncarnation(collections, deletion, signal).catch(() => {})
  }
}

/**
 * Deletes everything that belongs to an incarnation without a form. An incarnation that lost its form never has one
 * again, so nothing can be restored meanwhile.
 */
export const clearIncarnation = async (
  collections: FormsCollections,
  deletion: DeletionDocument,
  signal?: AbortSignal,
): Promise<void> => {
  const { forms, deletions, publicIds } = collections
  const { _id, organizationId, formId, incarnation, publicId, isCleared } = deletion
  // The delete is in progress, was killed before it deleted the form, or lost to another change. A read alone would not
  // suffice: a failover may take back a delete that no majority has.
  if (await forms.confirm({ organizationId, _id: formId, incarnation })) return
  await release(publicIds, publicId, deletion)
  for (const clearBatch of [clearReplies, clearRevisions, clearCommands]) {
    while (await clearBatch(collections, deletion)) if (signal?.aborted) return
  }
  // The events of the note have to be in the log first.
  const isCollected = { $in: [0, null] }
  if (isCleared && (await deletions.deleteOne({ organizationId, _id, collectTime: isCollected }))) return
  const clearTime = Date.now() + secondClearingMs
  await deletions.set({ organizationId, _id }, { isCleared: true, clearTime })
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
const clearRevisions = async (
  collections: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
): Promise<boolean> => {
  const { revisions } = collections
  const all = { organizationId, formId, incarnation }
  const found = await Array.fromAsync(revisions.find(all, { limit: maxBatch, fields: ['bytes'] }))
  if (found.length === 0) return false
  const cleared = await revisions.deleteMany({ ...all, _id: { $in: found.map(({ _id }) => _id) } })
  // When another process clears concurrently, usage stays too high rather than too low.
  const bytes = found.reduce((sum, revision) => sum + revision.bytes, 0)
  if (cleared === found.length) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -bytes, revisions: -cleared })
  }
  return found.length === maxBatch
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
