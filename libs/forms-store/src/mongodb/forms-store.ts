import { type FormRecord, isUuid, liveAlias } from '@fms/contracts'
import {
  type BeforeWrite,
  KeyedMutex,
  listMongodb,
  lostRace,
  MongoDatabase,
  raceDeadline,
  untilWon,
} from '@fms/store-kit/mongodb'
import { ClearingLoop } from '../clearing-loop.ts'
import { updateAborted } from '../errors.ts'
import { completeOrder, positionOf } from '../form-order.ts'
import type {
  FormRef,
  FormState,
  FormsPage,
  FormsStore,
  FormsStoreOptions,
  FormText,
  Imported,
  ListFormsQuery,
  ListRevisionsQuery,
  LiveOrNot,
  OrganizationForms,
  Quota,
  RevisionsPage,
  Snapshot,
  StoredForm,
  StoredRevision,
  Usage,
} from '../forms-store.ts'
import { noQuota } from '../quota.ts'
import { takeUpToAsync } from '../take-up-to.ts'
import { clearDeletions } from './clear-deletions.ts'
import { createForm } from './create-form.ts'
import { deleteForm } from './delete-form.ts'
import {
  draftBytes,
  draftFields,
  type FormDocument,
  type FormsCollections,
  formKey,
  formsCollections,
  named,
  type ReplyDocument,
  type RevisionDocument,
  toFormText,
  toStoredForm,
  toStoredRevision,
} from './documents.ts'
import { exportForms, organizations } from './export-forms.ts'
import { importForm } from './import-form.ts'
import { hasForm, insertRevision } from './insert-revision.ts'
import { recordReply } from './record-reply.ts'
import { formsSchema } from './schema.ts'
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

  readonly #quota: Quota
  readonly #clearing: ClearingLoop | undefined

  /** @param url `mongodb://…/DATABASE`, migrated. */
  constructor(
    url: string,
    { quota = noQuota }: FormsStoreOptions = {},
    { beforeWrite, clears = true }: MongoFormsStoreHooks = {},
  ) {
    this.#database = new MongoDatabase(url, beforeWrite)
    this.#collections = formsCollections(this.#database)
    this.#quota = quota
    if (clears) this.#clearing = new ClearingLoop((signal) => clearDeletions(this.#collections, signal))
  }

  create(form: FormText): Promise<boolean> {
    return createForm(this.#collections, this.#quota, form)
  }

  /** Indexes: that of `_id`, and forms_by_publicId. */
  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const form = await this.#form(ref)
    return form && toStoredForm(form)
  }

  async getText(ref: FormRef): Promise<FormText | undefined> {
    const form = await this.#form(ref)
    return form && toFormText(form)
  }

  /**
   * Index: forms_by_ and the first field of the order, with _desc where it descends; further fields sort within equal
   * values of the first.
   */
  async list({ organizationId, filter, orderBy, after, limit, skip }: ListFormsQuery): Promise<FormsPage> {
    const order = completeOrder(orderBy)
    const list = listMongodb(this.#collections.forms, {
      scope: { organizationId },
      filter,
      fields: filterFields,
      foldedField: 'foldedName',
      order,
      after,
      skip,
      limit,
    })
    const [{ taken, more }, totalSize] = await Promise.all([
      takeUpToAsync(limit, list.items, ({ draft }) => Buffer.byteLength(draft)),
      list.count(),
    ])
    const next = more && positionOf(taken.at(-1)!, order)
    return { forms: taken.map(toFormText), ...(next && { next }), totalSize }
  }

  update(
    ref: FormRef,
    change: (current: FormText) => FormText | Promise<FormText>,
  ): Promise<FormText | undefined> {
    return this.#changing(ref, async () => {
      const form = await this.#form(ref)
      if (!form) return undefined
      const current = toFormText(form)
      const changed = await change(current)
      if (changed === current) return changed
      const bytes = Buffer.byteLength(changed.draftJson) - draftBytes(form)
      const stored = await this.#counted(form.organizationId, bytes, () =>
        this.#collections.forms.setAndGet({ ...formKey(form), version: form.version }, draftFields(changed)),
      )
      return stored ? toFormText(stored) : lostRace
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
    snapshot: (current: FormText) => Snapshot | Promise<Snapshot>,
  ): Promise<FormText | 'elsewhere' | undefined> {
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
    const outcome = await insertRevision(this.#collections, revision)
    if (outcome !== 'inserted') {
      const bytes = -Buffer.byteLength(revision.formJson)
      await addUsage(this.#collections, organizationId, { forms: 0, bytes })
    }
    switch (outcome) {
      case 'gone':
        return undefined
      case 'exists':
        // The same command, or another with the same id, was faster.
        return this.publish(ref, commandId, snapshot)
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
      revisions: taken.map((revision) => liveOrNot(revision, form)),
      ...(more && { next: taken.at(-1)!.number }),
      totalSize,
    }
  }

  /** Index: that of `_id`. */
  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(LiveOrNot & { current: StoredForm }) | undefined> {
    const form = await this.#form(ref)
    const _id = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
    if (!form || !_id || !isUuid(_id)) return undefined
    const { organizationId, _id: formId } = form
    const revision = await this.#collections.revisions.findOne({ organizationId, _id, formId })
    return revision && { ...liveOrNot(revision, form), current: toStoredForm(form) }
  }

  recordReply({ organizationId, formId, replyId }: ReplyDocument): Promise<boolean> {
    return this.#changing({ organizationId, formRef: formId }, () =>
      recordReply(this.#collections, { organizationId, formId, replyId }),
    )
  }

  /** Index: that of `_id`. */
  usage(organizationId: string): Promise<Usage> {
    return readUsage(this.#collections, organizationId)
  }

  checkQuota(organizationId: string, growth: Usage): Promise<void> {
    return checkQuota(this.#collections, this.#quota, organizationId, growth)
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
    const query = named(ref)
    return query && this.#collections.forms.findOne(query, fields)
  }

  async #revisionOfCommand(organizationId: string, commandId: string): Promise<RevisionDocument | undefined> {
    const revision = await this.#collections.revisions.findOne({ organizationId, commandId })
    return revision && (await hasForm(this.#collections, revision)) ? revision : undefined
  }

  /** Takes the snapshot and the form's next number at once, so that of two snapshots the later has the higher number. */
  #takeRevisionNumber(
    ref: FormRef,
    snapshot: (current: FormText) => Snapshot | Promise<Snapshot>,
  ): Promise<TakenSnapshot | undefined> {
    return this.#changing(ref, async () => {
      const form = await this.#form(ref)
      if (!form) return undefined
      const { version, revisionNumber } = form
      const current = toFormText(form)
      const revision = { ...(await snapshot(current)), formId: form._id, number: revisionNumber + 1 }
      const isTaken = await this.#counted(form.organizationId, Buffer.byteLength(revision.formJson), () =>
        this.#collections.forms.set(
          { ...formKey(form), version, revisionNumber },
          { revisionNumber: revision.number },
        ),
      )
      return isTaken ? { revision, published: { ...current, live: true } } : lostRace
    })
  }

  /** Unless `live` stands on a later one. @returns the form afterwards, or undefined when it is gone. */
  #moveLive({
    organizationId,
    formId,
    _id,
    number,
  }: Pick<RevisionDocument, 'organizationId' | 'formId' | '_id' | 'number'>): Promise<FormText | undefined> {
    const key = { organizationId, _id: formId }
    return this.#changing({ organizationId, formRef: formId }, async () => {
      const { forms } = this.#collections
      const moved = await forms.setAndGet(
        { ...key, liveNumber: { $lt: number } },
        { liveRevisionId: _id, liveNumber: number },
      )
      const form = moved ?? (await forms.findOne(key))
      return form && toFormText(form)
    })
  }

  /** A write that makes drafts or revisions so many bytes longer; see `countWrite`. */
  #counted<T>(organizationId: string, bytes: number, write: () => Promise<T>): Promise<T> {
    return countWrite(this.#collections, this.#quota, organizationId, { forms: 0, bytes }, write)
  }

  /** A compare-and-set of a form, until it wins. */
  #changing<T>(ref: FormRef, attempt: () => Promise<T | typeof lostRace>): Promise<T> {
    const deadline = raceDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      untilWon(attempt, () => updateAborted(ref), deadline),
    )
  }
}

/** A snapshot with its number, and the form as it holds it. */
interface TakenSnapshot {
  revision: Snapshot & { formId: string; number: number }
  published: FormText
}

const liveOrNot = (revision: RevisionDocument, form: FormDocument): LiveOrNot => ({
  revision: toStoredRevision(revision),
  live: revision._id === form.liveRevisionId,
})
