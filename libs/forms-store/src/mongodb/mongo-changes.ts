import { type MongoTransaction, type TransactionWrite, writeConflict } from '@fms/store-kit/mongodb'
import type { ChangeEngine } from '../changes/change-engine.ts'
import { limitedGrowth } from '../quota.ts'
import { toStoredRevision } from '../stored-rows.ts'
import { applyChange, latestEvents, requestKey } from './apply-change.ts'
import { clearRemains } from './clear-remains.ts'
import { foundFields, toFoundDraft, toFoundForm } from './convert-documents.ts'
import type { FormsCollections, RevisionDocument } from './documents.ts'
import { findForm, formById, formIdOf, formsByPublicId, incarnationOf } from './find-form.ts'
import { readRecord } from './records/read-record.ts'
import type { MongoQuota } from './usage.ts'

/** Reads what changes are decided on with read concern `majority`, and applies them in transactions. */
export const mongoChanges = (collections: FormsCollections, quota: MongoQuota): ChangeEngine => ({
  async findForm(ref, isDeleted) {
    const found = await findForm(collections, ref, { fields: foundFields, isDeleted, isDurable: true })
    return found && toFoundForm(found)
  },

  async findDraft(ref, isDeleted) {
    const found = await findForm(collections, ref, { isDeleted, isDurable: true })
    return found && toFoundDraft(found)
  },

  /** Index: events_by_request. */
  async findRequest(organizationId, request) {
    const query = { organizationId, request: requestKey(request) }
    const fields = ['formId', 'digest', 'event']
    const [found] = await collections.events.findDurable(query, { limit: 1, fields })
    if (!found) return undefined
    const { publicId } = JSON.parse(found.event).data
    return { organizationId, formId: found.formId, publicId, digest: found.digest! }
  },

  async findTakenId(form) {
    const { forms, publicIds } = collections
    const [[found], [holder]] = await Promise.all([
      forms.findDurable(formById(form), { limit: 1, fields: ['isDeleted'] }),
      publicIds.findDurable({ _id: form.publicId }, { limit: 1 }),
    ])
    if (found) return found.isDeleted ? 'deletedFormId' : 'formId'
    // Another client may have stored the form between the two reads.
    return holder && (formById(holder)._id === formById(form)._id ? 'formId' : 'publicId')
  },

  async lastTimeOf(form) {
    const reads = latestEvents(form).map(([query, options]) => collections.events.findDurable(query, options))
    const found = await Promise.all(reads)
    return new Date(Math.max(0, ...found.flat().map(({ time }) => time)))
  },

  /** Indexes: revisions_by_revisionId, revisions_by_commandId. */
  async findRevisions(organizationId, revisions) {
    const fields = ['organizationId', 'formId', 'incarnation', 'revisionId', 'commandId', 'number', 'note']
    const revisionIds = revisions.flatMap(({ revisionId = [] }) => revisionId)
    const queries = [
      { organizationId, commandId: { $in: revisions.map(({ commandId }) => commandId) } },
      ...(revisionIds.length > 0 ? [{ revisionId: { $in: revisionIds } }] : []),
    ]
    const found = await Promise.all(
      queries.map((query) => collections.revisions.findDurable(query, { fields })),
    )
    // Of thousands of revisions, most belong to the same form.
    const heldBy = new Map<string, Promise<boolean>>()
    for (const revision of found.flat())
      heldBy.getOrInsertComputed(revision.incarnation, () => isHeld(collections, revision))
    return Promise.all(
      found.flat().map(async (each) => ({ ...each, isHeld: await heldBy.get(each.incarnation)! })),
    )
  },

  /** Index: revisions_by_revisionId. */
  async readLive({ organizationId, formId, incarnation, liveRevisionId }) {
    if (liveRevisionId === null) return undefined
    const query = { organizationId, formId, incarnation, revisionId: liveRevisionId }
    const found = await collections.revisions.findOne(query)
    return found && toStoredRevision(found)
  },

  async *formsByPublicId(organizationId, isDeleted) {
    for await (const form of formsByPublicId(collections, organizationId, isDeleted))
      yield { organizationId, formId: formIdOf(form), publicId: form.publicId }
  },

  readRecord: (form) => readRecord(collections, form),

  apply: (change) => applyChange(collections, quota, change),

  async checkRoom(change) {
    if (!change.ignoresQuota) await quota.check(change.organizationId, limitedGrowth(change))
  },

  /** Does not compare `changeTime`: replies count whatever else happens to the form. Index: replies_by_replyId. */
  async recordReplies({ organizationId, formId, replyIds }) {
    const { database, forms, replies } = collections
    const query = formById({ organizationId, formId })
    const [form] = await forms.findDurable(query, { limit: 1, fields: ['organizationId', 'incarnation'] })
    if (!form) return 0
    const all = incarnationOf(form)
    const found = await replies.findDurable({ ...all, replyId: { $in: replyIds } }, { fields: ['replyId'] })
    const known = new Set(found.map(({ replyId }) => replyId))
    const added = [...new Set(replyIds)].filter((id) => !known.has(id))
    if (added.length === 0) return 0
    const { incarnation } = form
    const writes: TransactionWrite[] = [
      { collection: 'forms', update: { ...query, incarnation }, by: { $inc: { replyCount: added.length } } },
      ...added.map((replyId) => ({ collection: 'replies', insert: { ...all, replyId } })),
    ]
    const work = async (transaction: MongoTransaction) => {
      const { matched } = await transaction.write(writes)
      return matched === 1 ? added.length : writeConflict
    }
    return database.transaction(work)
  },

  /** Index: deletions_by_purgeTime. */
  async findDue(limit) {
    const query = { purgeTime: { $lte: Date.now() } }
    const fields = ['organizationId']
    const due = await collections.deletions.findDurable(query, { limit, fields })
    return due.map((deletion) => ({
      organizationId: deletion.organizationId,
      formRef: formIdOf(deletion),
    }))
  },

  async isDue(form) {
    const query = { ...formById(form), purgeTime: { $lte: Date.now() } }
    return (await collections.deletions.findDurable(query, { limit: 1, fields: ['_id'] })).length > 0
  },

  clearRemains: (signal, incarnation) => clearRemains(collections, signal, incarnation as string | undefined),
})

/** Whether the form of a revision exists, deleted or not. */
const isHeld = (
  { forms }: Pick<FormsCollections, 'forms'>,
  { incarnation, ...path }: RevisionDocument,
): Promise<boolean> => forms.has({ ...formById(path), incarnation })
