import type { FormPath } from '@fms/contracts'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import {
  type FormRevisions,
  manyRevisions,
  maxCountedForms,
  maxCountedRevisions,
  measureBatches,
  noRevisions,
  type PruneRule,
  type RevisionGrowth,
  sizeOf,
  withMinAge,
} from '../../revisions/revision-growth.ts'
import { lossOf } from '../clear-remains.ts'
import type { FormDocument, FormsCollections, RevisionDocument } from '../documents.ts'
import { formById, formIdOf, formsByPublicId, incarnationOf } from '../find-form.ts'
import { addGrowth } from '../usage.ts'

const maxBatch = 100

export const mongoRevisionGrowth = (collections: FormsCollections): RevisionGrowth => ({
  async *formsToPrune(organizationId, keep) {
    for await (const form of formsByPublicId(collections, organizationId, false, 'revisionNumber')) {
      if (form.revisionNumber > keep) yield { organizationId, formId: formIdOf(form) }
    }
  },

  prunable: (path, rule) =>
    measureBatches(async (after) => (await findPrunable(collections, path, withMinAge(rule), after)).batch),

  /** Deletes a batch and subtracts it from the usage, in one transaction. */
  prune(path, rule) {
    const { database } = collections
    const attempt = async () => {
      const { form, batch } = await findPrunable(collections, path, withMinAge(rule), 0)
      if (!form || batch.length === 0) return noRevisions
      const revisionId = { $in: batch.map((revision) => revision.revisionId) }
      return database.transaction(async (transaction) => {
        const { deleted } = await transaction.write([
          { collection: 'revisions', deleteMany: { ...incarnationOf(form), revisionId } },
          addGrowth(form.organizationId, lossOf(batch)),
        ])
        return deleted === batch.length ? sizeOf(batch) : writeConflict
      })
    }
    return retryOnConflict(attempt, () => updateAborted({ ...path, formRef: path.formId }))
  },

  /** Indexes: forms_by_revisionNumber, revisions_by_number. */
  async formsWithMany(limit) {
    const { forms, revisions } = collections
    const query = { revisionNumber: { $gt: manyRevisions } }
    const fields = ['organizationId', 'incarnation', 'publicId', 'isDeleted']
    const options = { sort: { revisionNumber: -1 }, limit: maxCountedForms, fields } as const
    const found: FormRevisions[] = []
    for (const form of await Array.fromAsync(forms.find(query, options))) {
      if (form.isDeleted) continue
      const path = incarnationOf(form)
      const count = await revisions.count(path, { limit: maxCountedRevisions })
      const { organizationId, formId } = path
      if (count > manyRevisions)
        found.push({ organizationId, formId, publicId: form.publicId, revisions: count })
      if (found.length === limit) break
    }
    return found
  },

  /** Adds up a document of each log, and the growth, and the pending events. */
  async total() {
    const { eventLogs } = collections
    const ofGrowth = { $project: { revisions: '$growth.revisions', revisionBytes: '$growth.revisionBytes' } }
    const isPending = { $match: { pendingIn: { $gt: '' } } }
    const [sums] = await eventLogs.aggregateSnapshot([
      { $project: { revisions: 1, revisionBytes: 1 } },
      { $unionWith: { coll: 'growth', pipeline: [ofGrowth] } },
      { $unionWith: { coll: 'events', pipeline: [isPending, ofGrowth] } },
      { $group: { _id: null, revisions: { $sum: '$revisions' }, bytes: { $sum: '$revisionBytes' } } },
    ])
    return { revisions: sums?.revisions ?? 0, bytes: sums?.bytes ?? 0 }
  },
})

/** A batch of the oldest revisions after a number that may be deleted. Index: revisions_by_number. */
const findPrunable = async (
  { forms, revisions }: FormsCollections,
  path: FormPath,
  { keep, before }: PruneRule,
  after: number,
): Promise<{ form?: FormDocument; batch: RevisionDocument[] }> => {
  const fields = ['organizationId', 'incarnation', 'liveNumber']
  const [form] = await forms.findDurable({ ...formById(path), isDeleted: false }, { limit: 1, fields })
  if (!form) return { batch: [] }
  const all = incarnationOf(form)
  const newest = { sort: { number: -1 }, skip: keep - 1, limit: 1, fields: ['number'] } as const
  const [lastToKeep] = await revisions.findDurable(all, newest)
  if (!lastToKeep) return { batch: [] }
  const query = { ...all, number: { $gt: after, $lt: Math.min(form.liveNumber, lastToKeep.number) } }
  const found = await revisions.findDurable(query, {
    sort: { number: 1 },
    limit: maxBatch,
    fields: ['revisionId', 'number', 'createTime', 'bytes'],
  })
  const tooYoung = found.findIndex(({ createTime }) => createTime >= before.getTime())
  return { form, batch: tooYoung < 0 ? found : found.slice(0, tooYoung) }
}
