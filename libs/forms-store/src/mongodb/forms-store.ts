import { type FormRecord, isUuid, liveAlias } from '@fms/contracts'
import {
  type BeforeWrite,
  conflictDeadline,
  isTimeLimit,
  KeyedMutex,
  listMongodb,
  MongoDatabase,
  retryOnConflict,
  writeConflict,
} from '@fms/store-kit/mongodb'
import { ClearingLoop } from '../clearing-loop.ts'
import { filterTooExpensive, updateAborted } from '../errors.ts'
import type {
  FormRef,
  FormState,
  FormsPage,
  FormsStore,
  FormsStoreOptions,
  Imported,
  ListedRevision,
  ListFormsQuery,
  ListOptions,
  ListRevisionsQuery,
  OrganizationForms,
  Quota,
  Replies,
  RevisionState,
  RevisionsPage,
  Snapshot,
  StoredForm,
  StoredRevision,
  Usage,
} from '../forms-store.ts'
import { completeOrder, positionOf } from '../lists/form-order.ts'
import { requiredTrigrams, spread } from '../lists/name-trigrams.ts'
import { takeUpToAsync } from '../lists/take-up-to.ts'
import { noQuota } from '../quota.ts'
import { clearDeletions } from './clear-deletions.ts'
import { createForm } from './create-form.ts'
import { deleteForm } from './delete-form.ts'
import {
  draftBytes,
  draftFields,
  type FormDocument,
  type FormsCollections,
  formByRef,
  formKey,
  formsCollections,
  type RevisionDocument,
  stateFields,
  toFormState,
  toStoredForm,
  toStoredRevision,
} from './documents.ts'
import { exportForms, organizations } from './export-forms.ts'
import { importForm } from './import-form.ts'
import { hasForm, insertRevision } from './insert-revision.ts'
import { recordReplies } from './record-replies.ts'
import { coveringIndex, formsSchema } from './schema.ts'
import { addUsage, checkQuota, countWrite, readUsage } from './usage.ts'

/** Fields of the forms that a filter may read. */
const filterFields = {
  name: 'name',
  publicId: 'publicId',
  type: 'type',
  createTime: 'createTime',
  updateTime: 'updateTime',
} as const

/** What tests change. */
export interface MongoFormsStoreHooks {
  beforeWrite?: BeforeWrite
  /** Whether this store clears what deleted forms left. */
  clears?: boolean
}
/** Trigrams that one search names: more find little less. */
const maxTrigrams = 8

/** How long a list may take unless the caller of the store says otherwise. */
const defaultListTimeoutMs = 2_000

/**
 * The distributed forms store. Each change is one atomic change of one document, and what takes several is written as
 * steps: docs/decisions/0004-mongodb-without-transactions.md has their order and why a kill between any two is safe.
 *
 * Everything hangs on the form's own document: revisions and replies without it are invisible.
 */
export class MongoFormsStore implements FormsStore {
  readonly #database: MongoDatabase
  readonly #collections: FormsCollections
  /** The changes of a form, one after the other in this process. */
  readonly #formMutex = new KeyedMutex()

  readonly #listTimeoutMs: number
  readonly #quota: Quota
  readonly #clearing: ClearingLoop | undefined

  /** @param url `mongodb://…/DATABASE`, migrated. */
  constructor(
    url: string,
    { quota = noQuota, listTimeoutMs = defaultListTimeoutMs }: FormsStoreOptions = {},
    { beforeWrite, clears = true }: MongoFormsStoreHooks = {},
  ) {
    this.#database = new MongoDatabase(url, beforeWrite, formsSchema)
    this.#listTimeoutMs = listTimeoutMs
    this.#collections = formsCollections(this.#database)
    this.#quota = quota
    if (clears) this.#clearing = new ClearingLoop((signal) => clearDeletions(this.#collections, signal))
  }

  create(form: StoredForm): Promise<boolean> {
    return createForm(this.#collections, this.#quota, form)
  }

  /** Indexes: that of `_id`, and forms_by_publicId. */
  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const form = await this.#form(ref)
    return form && toStoredForm(form)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    const form = await this.#form(ref, stateFields)
    return form && toFormState(form)
  }

  /**
   * Index: forms_by_ and the first field of the order, forms_by_updateTime_desc for the default one, forms_by_order for
   * several fields; forms_by_nameTrigrams where names have to contain a text.
   */
  async list(
    { organizationId, filter, orderBy, after, limit, skip }: ListFormsQuery,
    options: ListOptions = {},
  ): Promise<FormsPage> {
    const order = completeOrder(orderBy)
    const trigrams = filter ? spread(requiredTrigrams(filter), maxTrigrams) : []
    return this.#inTime(options, async (demand) => {
      const list = listMongodb(this.#collections.forms, {
        scope: { organizationId, ...(trigrams.length > 0 && { nameTrigrams: { $all: trigrams } }) },
        filter,
        fields: filterFields,
        foldedField: 'foldedName',
        order,
        after,
        skip,
        limit,
        covering: coveringIndex,
        timeoutMs: this.#listTimeoutMs,
        demand,
      })
      const [{ taken, more }, totalSize] = await Promise.all([
        takeUpToAsync(limit, list.items, ({ draft }) => Buffer.byteLength(draft)),
        list.count(),
      ])
      const next = more && positionOf(taken.at(-1)!, order)
      return { forms: taken.map(toStoredForm), ...(next && { next }), totalSize }
    })
  }

  update(
    ref: FormRef,
    change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
  ): Promise<StoredForm | undefined> {
    return this.#changing(ref, async () => {
      const form = await this.#form(ref)
      if (!form) return undefined
      const current = toStoredForm(form)
      const changed = await change(current)
      if (changed === current) return changed
      const bytes = Buffer.byteLength(changed.draftJson) - draftBytes(form)
      const stored = await this.#counted(form.organizationId, bytes, () =>
        this.#collections.forms.setAndGet({ ...formKey(form), version: form.version }, draftFields(changed)),
      )
      return stored ? toStoredForm(stored) : writeConflict
    })
  }

  async delete(ref: FormRef, check: (current: FormState) => void): Promise<boolean> {
    const isDeleted = await deleteForm(this.#collections, ref, check)
    if (isDeleted) this.#clearing?.wake()
    return isDeleted
  }

  /** Index: revisions_by_command. */
  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const revision = await this.#revisionOfCommand(organizationId, commandId)
    return revision && toStoredRevision(revision)
  }

  /** docs/decisions/0001-publish-in-repeatable-steps.md. Indexes: that of `_id`, and revisions_by_command. */
  async publish(
    ref: FormRef,
    commandId: string,
    snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>,
    beforeStoring?: () => void,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    const { organizationId } = ref
    const earlier = await this.#revisionOfCommand(organizationId, commandId)
    if (earlier) {
      const form = await this.#form(ref, ['organizationId'])
      if (!form) return undefined
      return earlier.formId === form._id ? this.#moveLive(earlier) : 'elsewhere'
    }

    const taken = await this.#takeRevisionNumber(ref, snapshot)
    if (!taken) return undefined
    const revision = { ...taken.revision, organizationId, commandId }
    const giveBack = () =>
      addUsage(this.#collections, organizationId, {
        forms: 0,
        bytes: -Buffer.byteLength(revision.formJson),
      })
    try {
      beforeStoring?.()
    } catch (error) {
      await giveBack()
      throw error
    }
    const outcome = await insertRevision(this.#collections, revision)
    if (outcome !== 'inserted') await giveBack()
    switch (outcome) {
      case 'gone':
        return undefined
      case 'exists':
        // The same command, or another with the same id, was faster.
        return this.publish(ref, commandId, snapshot, beforeStoring)
      case 'inserted':
        return (await this.#moveLive({ ...revision, _id: revision.revisionId })) && taken.published
    }
  }

  /** Index: revisions_by_number. */
  async listRevisions({
    after,
    limit,
    skip,
    ...ref
  }: ListRevisionsQuery): Promise<RevisionsPage | undefined> {
    const form = await this.#form(ref, ['organizationId', 'liveRevisionId'])
    if (!form) return undefined
    const { revisions } = this.#collections
    const all = { organizationId: form.organizationId, formId: form._id }
    const found = revisions.find(after === undefined ? all : { ...all, number: { $lt: after } }, {
      sort: { number: -1 },
      skip,
      limit: limit + 1,
    })
    const [{ taken, more }, totalSize] = await Promise.all([
      takeUpToAsync(limit, found, (revision) => Buffer.byteLength(revision.form)),
      revisions.count(all),
    ])
    return {
      revisions: taken.map((revision) => toListedRevision(revision, form)),
      ...(more && { next: taken.at(-1)!.number }),
      totalSize,
    }
  }

  /** Index: that of `_id`. */
  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(ListedRevision & RevisionState) | undefined> {
    const found = await this.#revision(ref, revisionRef)
    return found && { ...found.state, ...toListedRevision(found.revision, found.form) }
  }

  async getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined> {
    return (await this.#revision(ref, revisionRef, ['formId']))?.state
  }

  /** Indexes: that of `_id`, and the key of replies. */
  recordReplies(counted: Replies): Promise<number> {
    const { organizationId, formId } = counted
    return this.#changing({ organizationId, formRef: formId }, () =>
      recordReplies(this.#collections, counted),
    )
  }

  /** Index: that of `_id`. */
  usage(organizationId: string): Promise<Usage> {
    return readUsage(this.#collections, organizationId)
  }

  checkQuota(organizationId: string, growth: Usage): Promise<void> {
    return checkQuota(this.#collections, this.#quota, organizationId, growth)
  }

  /** Indexes: that of `_id` of publicIds, then forms_by_publicId, since a public id stays reserved without its form. */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const reserved = await this.#collections.publicIds.findOne({ _id: publicId })
    if (!reserved) return undefined
    const { organizationId } = reserved
    const form = await this.#collections.forms.findOne({ organizationId, publicId }, ['organizationId'])
    return form?.organizationId
  }

  organizations(): AsyncIterable<OrganizationForms> {
    return organizations(this.#collections)
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#collections, organizationId)
  }

  importForm(record: FormRecord): Promise<Imported> {
    return importForm(this.#collections, record)
  }

  ping(): Promise<void> {
    return this.#database.ping(formsSchema)
  }

  async close(): Promise<void> {
    await this.#clearing?.close()
    await this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #form(ref: FormRef, fields?: readonly (keyof FormDocument)[]): Promise<FormDocument | undefined> {
    const query = formByRef(ref)
    return query && this.#collections.forms.findOne(query, fields)
  }

  /** @param fields of the revision that will do. */
  async #revision(ref: FormRef, revisionRef: string, fields?: readonly (keyof RevisionDocument)[]) {
    const form = await this.#form(ref, ['organizationId', 'liveRevisionId', 'aiHandoff'])
    const _id = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
    if (!form || !_id || !isUuid(_id)) return undefined
    const { organizationId, _id: formId } = form
    const revision = await this.#collections.revisions.findOne({ organizationId, _id, formId }, fields)
    const aiHandoff = form.aiHandoff ?? (await this.get(ref))?.aiHandoff ?? false
    const state = { revisionId: _id, live: _id === form.liveRevisionId, aiHandoff }
    return revision && { form, revision, state }
  }

  async #revisionOfCommand(organizationId: string, commandId: string): Promise<RevisionDocument | undefined> {
    const revision = await this.#collections.revisions.findOne({ organizationId, commandId })
    return revision && (await hasForm(this.#collections, revision)) ? revision : undefined
  }

  /** Takes the snapshot and the form's next number at once, so that of two snapshots the later has the higher number. */
  #takeRevisionNumber(
    ref: FormRef,
    snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>,
  ): Promise<TakenSnapshot | undefined> {
    return this.#changing(ref, async () => {
      const form = await this.#form(ref)
      if (!form) return undefined
      const { version, revisionNumber } = form
      const current = toStoredForm(form)
      const revision = { ...(await snapshot(current)), formId: form._id, number: revisionNumber + 1 }
      const isTaken = await this.#counted(form.organizationId, Buffer.byteLength(revision.formJson), () =>
        this.#collections.forms.set(
          { ...formKey(form), version, revisionNumber },
          { revisionNumber: revision.number },
        ),
      )
      return isTaken ? { revision, published: { ...current, live: true } } : writeConflict
    })
  }

  /** Unless `live` stands on a later one. @returns the form afterwards, or undefined when it is gone. */
  #moveLive({
    organizationId,
    formId,
    _id,
    number,
  }: Pick<RevisionDocument, 'organizationId' | 'formId' | '_id' | 'number'>): Promise<
    StoredForm | undefined
  > {
    const key = { organizationId, _id: formId }
    return this.#changing({ organizationId, formRef: formId }, async () => {
      const { forms } = this.#collections
      const moved = await forms.setAndGet(
        { ...key, liveNumber: { $lt: number } },
        { liveRevisionId: _id, liveNumber: number },
      )
      const form = moved ?? (await forms.findOne(key))
      return form && toStoredForm(form)
    })
  }

  /** A write that makes drafts or revisions so many bytes longer; see `countWrite`. */
  #counted<T>(organizationId: string, bytes: number, write: () => Promise<T>): Promise<T> {
    return countWrite(this.#collections, this.#quota, organizationId, { forms: 0, bytes }, write)
  }

  /** @throws {ApiError} FILTER_TOO_EXPENSIVE when `read` takes too long; the signal's reason. */
  async #inTime<T>({ signal }: ListOptions, read: (demand: () => void) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#listTimeoutMs
    try {
      return await read(() => {
        signal?.throwIfAborted()
        if (performance.now() > deadline) throw filterTooExpensive(this.#listTimeoutMs)
      })
    } catch (error) {
      throw isTimeLimit(error) ? filterTooExpensive(this.#listTimeoutMs) : error
    }
  }

  /** A compare-and-set of a form, until it wins. */
  #changing<T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>): Promise<T> {
    const deadline = conflictDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      retryOnConflict(attempt, () => updateAborted(ref), deadline),
    )
  }
}

/** A snapshot with its number, and the form as it holds it. */
interface TakenSnapshot {
  revision: Snapshot & { formId: string; number: number }
  published: StoredForm
}

const toListedRevision = (revision: RevisionDocument, form: FormDocument): ListedRevision => ({
  revision: toStoredRevision(revision),
  live: revision._id === form.liveRevisionId,
})
