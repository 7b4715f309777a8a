import { DuplicateInTransaction, type TransactionWrite, writeConflict } from '@fms/store-kit/mongodb'
import type { ChangeEngine, FoundRevision } from '../changes/change-engine.ts'
import { toStoredRevision } from '../stored-rows.ts'
import { applyChange, latestEvents, requestKey } from './apply-change.ts'
import { clearRemains } from './clear-remains.ts'
import { foundFields, toFoundDraft, toFoundForm } from './convert-documents.ts'
import type { FormsCollections, RevisionDocument } from './documents.ts'
import { findForm, formById, formIdOf, incarnationOf } from './find-form.ts'
import { readRecord } from './records/export-forms.ts'
import type { MongoQuota } from './usage.ts'

const keyFields = ['formId', 'incarnation', 'revisionId', 'commandId', 'number']

/** Reads what changes are decided on with read concern `majority`, and applies them in transactions. */
export class MongoChanges implements ChangeEngine {
  readonly #collections: FormsCollections
  readonly #quota: MongoQuota

  constructor(collections: FormsCollections, quota: MongoQuota) {
    this.#collections = collections
    this.#quota = quota
  }

  readonly findForm: ChangeEngine['findForm'] = async (ref, isDeleted) => {
    const found = await findForm(this.#collections, ref, { fields: foundFields, isDeleted, isDurable: true })
    return found && toFoundForm(found)
  }

  readonly findDraft: ChangeEngine['findDraft'] = async (ref, isDeleted) => {
    const found = await findForm(this.#collections, ref, { isDeleted, isDurable: true })
    return found && toFoundDraft(found)
  }

  /** Index: events_by_request. */
  readonly findRequest: ChangeEngine['findRequest'] = async (organizationId, request) => {
    const query = { organizationId, request: requestKey(request) }
    const fields = ['formId', 'digest', 'event']
    const [found] = await this.#collections.events.findDurable(query, { limit: 1, fields })
    if (!found) return undefined
    const { publicId } = JSON.parse(found.event).data
    return { organizationId, formId: found.formId, publicId, digest: found.digest! }
  }

  readonly findTakenId: ChangeEngine['findTakenId'] = async (form) => {
    const { forms, publicIds } = this.#collections
    const [[found], [holder]] = await Promise.all([
      forms.findDurable(formById(form), { limit: 1, fields: ['isDeleted'] }),
      publicIds.findDurable({ _id: form.publicId }, { limit: 1 }),
    ])
    if (found) return found.isDeleted ? 'deletedFormId' : 'formId'
    // Another client may have stored the form between the two reads.
    return holder && (formById(holder)._id === formById(form)._id ? 'formId' : 'publicId')
  }

  readonly lastTimeOf: ChangeEngine['lastTimeOf'] = async (form) => {
    const reads = latestEvents(form).map(([query, options]) =>
      this.#collections.events.findDurable(query, options),
    )
    const found = await Promise.all(reads)
    return new Date(Math.max(0, ...found.flat().map(({ time }) => time)))
  }

  /** Index: revisions_by_commandId. */
  readonly findCommand: ChangeEngine['findCommand'] = async (organizationId, commandId) => {
    const options = { limit: 1, fields: keyFields }
    const [found] = await this.#collections.revisions.findDurable({ organizationId, commandId }, options)
    return found && toFoundRevision(found, await this.#isHeld(organizationId, found))
  }

  /** Indexes: revisions_by_id, revisions_by_commandId. */
  readonly findRevisions: ChangeEngine['findRevisions'] = async (organizationId, revisions) => {
    const found = await Promise.all(
      (['revisionId', 'commandId'] as const).map((name) => {
        const query = { organizationId, [name]: { $in: revisions.map((revision) => revision[name]) } }
        return this.#collections.revisions.findDurable(query, { fields: keyFields })
      }),
    )
    // Of thousands of revisions, most belong to the same form.
    const isHeld = new Map<string, Promise<boolean>>()
    for (const revision of found.flat())
      isHeld.getOrInsertComputed(revision.incarnation, () => this.#isHeld(organizationId, revision))
    return Promise.all(
      found.flat().map(async (each) => toFoundRevision(each, await isHeld.get(each.incarnation)!)),
    )
  }

  #isHeld(organizationId: string, { formId, incarnation }: RevisionDocument): Promise<boolean> {
    return this.#collections.forms.has({ ...formById({ organizationId, formId }), incarnation })
  }

  /** Index: revisions_by_id. */
  readonly readLive: ChangeEngine['readLive'] = async ({
    organizationId,
    formId,
    incarnation,
    liveRevisionId,
  }) => {
    if (liveRevisionId === null) return undefined
    const query = { organizationId, formId, incarnation, revisionId: liveRevisionId }
    const found = await this.#collections.revisions.findOne(query)
    return found && toStoredRevision(found)
  }

  readonly readRecord: ChangeEngine['readRecord'] = (form) => readRecord(this.#collections, formById(form))

  readonly apply: ChangeEngine['apply'] = (change) => applyChange(this.#collections, this.#quota, change)

  /** Does not compare `changeTime`: replies count whatever else happens to the form. Index: replies_by_replyId. */
  readonly recordReplies: ChangeEngine['recordReplies'] = async ({ organizationId, formId, replyIds }) => {
    const { database, forms, replies } = this.#collections
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
    try {
      return await database.transaction(async (transaction) => {
        const { matched } = await transaction.write(writes)
        return matched === 1 ? added.length : writeConflict
      })
    } catch (error) {
      if (error instanceof DuplicateInTransaction) return writeConflict
      throw error
    }
  }

  /** Index: deletions_by_purgeTime. */
  readonly findDue: ChangeEngine['findDue'] = async (limit) => {
    const query = { purgeTime: { $lte: Date.now() } }
    const fields = ['organizationId']
    const due = await this.#collections.deletions.findDurable(query, { limit, fields })
    return due.map((deletion) => ({
      organizationId: deletion.organizationId,
      formRef: formIdOf(deletion),
    }))
  }

  readonly isDue: ChangeEngine['isDue'] = async (form) => {
    const query = { ...formById(form), purgeTime: { $lte: Date.now() } }
    return (await this.#collections.deletions.findDurable(query, { limit: 1, fields: ['_id'] })).length > 0
  }

  readonly clearRemains: ChangeEngine['clearRemains'] = (signal, incarnation) =>
    clearRemains(this.#collections, signal, incarnation as string | undefined)
}

const toFoundRevision = (
  { formId, incarnation, revisionId, commandId, number }: RevisionDocument,
  isHeld: boolean,
): FoundRevision => ({ formId, incarnation, revisionId, commandId, number, isHeld })
