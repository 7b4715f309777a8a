import type { FormRecord } from '@fms/contracts'
import { isTimeLimit, MongoDatabase, socketTimeoutMs } from '@fms/store-kit/mongodb'
import { FormChanges } from '../changes/form-changes.ts'
import { filterTooExpensive } from '../errors.ts'
import type { EventLog } from '../events/event-log.ts'
import type {
  DeletedFormsPage,
  FormRef,
  FormState,
  FormSummariesPage,
  FormsPage,
  FormsStore,
  FormsStoreOptions,
  ListDeletedFormsQuery,
  ListedRevision,
  ListFormsQuery,
  ListOptions,
  ListRevisionsQuery,
  OrganizationForms,
  RevisionState,
  RevisionsPage,
  StoredForm,
  StoredRevision,
  Usage,
} from '../forms-store.ts'
import { noQuota, withRoomForEvent } from '../quota.ts'
import type { RevisionGrowth } from '../revisions/revision-growth.ts'
import { toStoredRevision } from '../stored-rows.ts'
import { stateFields, storedFields, toFormState, toStoredForm } from './convert-documents.ts'
import { type FormsCollections, formsCollections } from './documents.ts'
import { MongoEventLog } from './events/mongo-event-log.ts'
import { numberOrganization } from './events/number-events.ts'
import { findForm, formById } from './find-form.ts'
import { listDeleted } from './list-deleted.ts'
import { type ListLimits, listForms, summaries, wholeForms } from './list-forms.ts'
import { MongoChanges } from './mongo-changes.ts'
import { exportForms, listOrganizations } from './records/export-forms.ts'
import { findRevision, listRevisions, toListedRevision } from './revisions/find-revision.ts'
import { MongoRevisionGrowth } from './revisions/mongo-revision-growth.ts'
import { formsSchema } from './schema.ts'
import { MongoQuota, readUsage } from './usage.ts'

/** Time limit of a list, unless the options set another. */
const defaultListTimeoutMs = 2_000

/** A reader of the usage numbers pending events itself beyond this number: no relay seems to run. */
const maxPending = 1_000

/** The distributed forms store. Each change is one transaction; reads go to the primary. */
export class MongoFormsStore extends FormChanges implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: MongoDatabase
  readonly #collections: FormsCollections
  readonly #quota: MongoQuota
  readonly #listTimeoutMs: number

  /** @param url `mongodb://…/DATABASE`, migrated. */
  constructor(url: string, options: FormsStoreOptions = {}) {
    const { quota = noQuota, listTimeoutMs = defaultListTimeoutMs, timeoutMs } = options
    const database = new MongoDatabase(url, undefined, formsSchema, {
      socketTimeoutMS: socketTimeoutMs(Math.max(listTimeoutMs, timeoutMs ?? 0)),
      ...(timeoutMs !== undefined && { engineTimeoutMs: timeoutMs }),
    })
    const collections = formsCollections(database)
    const mongoQuota = new MongoQuota(collections, quota)
    super(new MongoChanges(collections, mongoQuota), options)
    this.#database = database
    this.#collections = collections
    this.#quota = mongoQuota
    this.#listTimeoutMs = listTimeoutMs
    this.events = new MongoEventLog(collections)
    this.revisionGrowth = new MongoRevisionGrowth(collections)
  }

  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const form = await findForm(this.#collections, ref, { fields: storedFields })
    return form && toStoredForm(form)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    const form = await findForm(this.#collections, ref, { fields: stateFields })
    return form && toFormState(form)
  }

  async getDeleted(ref: FormRef): Promise<StoredForm | undefined> {
    const form = await findForm(this.#collections, ref, { fields: storedFields, isDeleted: true })
    return form && toStoredForm(form)
  }

  list(query: ListFormsQuery, options: ListOptions = {}): Promise<FormsPage> {
    return this.#withTimeLimit(options, (limits) =>
      listForms(this.#collections, query, wholeForms, limits, () => this.usage(query.organizationId)),
    )
  }

  listSummaries(query: ListFormsQuery, options: ListOptions = {}): Promise<FormSummariesPage> {
    return this.#withTimeLimit(options, (limits) =>
      listForms(this.#collections, query, summaries, limits, () => this.usage(query.organizationId)),
    )
  }

  listDeleted(query: ListDeletedFormsQuery, options: ListOptions = {}): Promise<DeletedFormsPage> {
    return this.#withTimeLimit(options, (limits) => listDeleted(this.#collections, query, limits))
  }

  /** Indexes: revisions_by_commandId, that of `_id` of forms. */
  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const { forms, revisions } = this.#collections
    const found = await revisions.findOne({ organizationId, commandId })
    if (!found) return undefined
    const { formId, incarnation } = found
    const isHeld = await forms.has({ ...formById({ organizationId, formId }), incarnation })
    return isHeld ? toStoredRevision(found) : undefined
  }

  listRevisions(query: ListRevisionsQuery): Promise<RevisionsPage | undefined> {
    return listRevisions(this.#collections, query)
  }

  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(ListedRevision & RevisionState) | undefined> {
    const found = await findRevision(this.#collections, ref, revisionRef)
    return found && { ...found.state, ...toListedRevision(found.revision, found.form) }
  }

  async getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined> {
    return (await findRevision(this.#collections, ref, revisionRef, ['formId']))?.state
  }

  async usage(organizationId: string): Promise<Usage> {
    const { forms, bytes, count } = await readUsage(this.#collections, organizationId)
    if (count > maxPending) void numberOrganization(this.#collections, organizationId).catch(() => {})
    return { forms, bytes }
  }

  checkQuota(organizationId: string, growth: Partial<Usage>): Promise<void> {
    return this.#quota.check(organizationId, withRoomForEvent(growth))
  }

  /** Indexes: that of `_id` of publicIds, then that of forms: a deleted form keeps its public id. */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const holder = await this.#collections.publicIds.findOne({ _id: publicId })
    if (!holder) return undefined
    const { organizationId, formId } = holder
    const form = await findForm(
      this.#collections,
      { organizationId, formRef: formId },
      { fields: ['publicId'] },
    )
    return form?.publicId === publicId ? organizationId : undefined
  }

  organizations(): AsyncIterable<OrganizationForms> {
    return listOrganizations(this.#collections)
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#collections, organizationId)
  }

  ping(): Promise<void> {
    return this.#database.ping(formsSchema)
  }

  async close(): Promise<void> {
    await this.stopClearing()
    await this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @throws {ApiError} FILTER_TOO_EXPENSIVE when `read` exceeds the time limit; the signal's reason. */
  async #withTimeLimit<T>(
    { signal, report }: ListOptions,
    read: (limits: ListLimits) => Promise<T>,
  ): Promise<T> {
    const deadline = performance.now() + this.#listTimeoutMs
    try {
      return await read({
        timeoutMs: this.#listTimeoutMs,
        ...(report && { report }),
        throwIfAborted: () => {
          signal?.throwIfAborted()
          if (performance.now() > deadline) throw filterTooExpensive(this.#listTimeoutMs)
        },
      })
    } catch (error) {
      throw isTimeLimit(error) ? filterTooExpensive(this.#listTimeoutMs) : error
    }
  }
}
