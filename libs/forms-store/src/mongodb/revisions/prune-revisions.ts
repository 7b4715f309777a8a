import type { FormPath } from '@fms/contracts'
import { addSizes, noRevisions, type PruneRule, type RevisionsSize } from '../../revisions/revision-growth.ts'
import { commandKey } from '../changes/reservations.ts'
import type { FormsCollections, Incarnation, RevisionDocument } from '../documents.ts'
import { formById, incarnationOf, visibilityFields, visibleRevisions } from '../form-queries.ts'
import { addUsage } from '../usage.ts'

/** Revisions of one batch. */
const maxBatch = 100

/** The part of an incarnation's revisions that a rule leaves to prune: numbers below `firstToKeep`. */
interface PrunableRange extends Incarnation {
  firstToKeep: number
}

/**
 * Deletes a batch of a form's revisions, then subtracts their bytes from the usage and releases their commands. A kill in
 * between leaves the usage too high until the next recount, and the commands of one batch reserved until the form is
 * deleted: docs/decisions/0036-prune-revisions.md.
 */
export const pruneRevisions = async (
  collections: FormsCollections,
  form: FormPath,
  rule: PruneRule,
): Promise<RevisionsSize> => {
  const range = await findRange(collections, form, rule)
  const batch = range ? await findBatch(collections, range, rule, 0) : []
  if (!range || batch.length === 0) return noRevisions
  const { organizationId, formId, incarnation } = range
  const revisionId = { $in: batch.map((revision) => revision.revisionId) }
  const revisions = await collections.revisions.deleteMany({
    organizationId,
    formId,
    incarnation,
    revisionId,
  })
  const size = sizeOf(batch)
  // When another process prunes the form concurrently, usage stays too high rather than too low.
  if (revisions === size.revisions) {
    await addUsage(collections, organizationId, { forms: 0, bytes: -size.bytes, revisions: -revisions })
  }
  await releaseCommands(collections, range, batch)
  return size
}

/** Measures what `pruneRevisions` deletes. */
export const measurePrunable = async (
  collections: FormsCollections,
  form: FormPath,
  rule: PruneRule,
): Promise<RevisionsSize> => {
  const range = await findRange(collections, form, rule)
  let [total, after] = [noRevisions, 0]
  for (;;) {
    const batch = range ? await findBatch(collections, range, rule, after) : []
    if (batch.length === 0) return total
    total = addSizes(total, sizeOf(batch))
    after = batch.at(-1)!.number
  }
}

/**
 * The numbers of the revisions that do not have to stay, except for their age. Reads `liveNumber`, which never decreases,
 * as a majority has it: no failover makes one of these revisions live again. Indexes: that of `_id`, and
 * revisions_by_incarnation.
 */
const findRange = async (
  { forms, revisions }: FormsCollections,
  path: FormPath,
  { keep }: PruneRule,
): Promise<PrunableRange | undefined> => {
  const fields = [...visibilityFields, 'liveNumber']
  const [form] = await forms.findDurable(formById(path), { fields, limit: 1 })
  if (!form) return undefined
  const newest = revisions.find(visibleRevisions(form), {
    sort: { number: -1 },
    skip: keep - 1,
    limit: 1,
    fields: ['number'],
  })
  const [lastToKeep] = await Array.fromAsync(newest)
  return lastToKeep && { ...incarnationOf(form), firstToKeep: Math.min(form.liveNumber, lastToKeep.number) }
}

/**
 * The oldest revisions of the range after a number, up to the first one that is too young. Those of cancelled publishes
 * stay, so that no late insert takes their numbers. Index: revisions_by_incarnation.
 */
const findBatch = async (
  { revisions }: FormsCollections,
  { firstToKeep, ...incarnation }: PrunableRange,
  { before }: PruneRule,
  after: number,
): Promise<RevisionDocument[]> => {
  const fields = ['revisionId', 'number', 'commandId', 'createTime', 'bytes']
  const query = { ...incarnation, number: { $gt: after, $lt: firstToKeep }, isCancelled: null }
  const found = await Array.fromAsync(revisions.find(query, { sort: { number: 1 }, limit: maxBatch, fields }))
  const tooYoung = found.findIndex(({ createTime }) => createTime >= before.getTime())
  return tooYoung < 0 ? found : found.slice(0, tooYoung)
}

/**
 * Releases the commands of deleted revisions, so that they can publish any form again. A command stays reserved if
 * another delivery relies on the reservation, or another incarnation has it. Index: that of `_id`.
 */
const releaseCommands = async (
  { commands }: FormsCollections,
  { organizationId, formId, incarnation }: Incarnation,
  batch: readonly RevisionDocument[],
): Promise<void> => {
  const ids = batch.map(({ commandId }) => commandKey(organizationId, commandId))
  const unshared = { organizationId, formId, incarnations: [incarnation], isShared: false }
  await commands.deleteMany({ _id: { $in: ids }, ...unshared })
}

const sizeOf = (batch: readonly RevisionDocument[]): RevisionsSize => ({
  revisions: batch.length,
  bytes: batch.reduce((sum, { bytes }) => sum + bytes, 0),
})
