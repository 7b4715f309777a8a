import { isTimeLimit, MongoDatabase, socketTimeoutMs } from '@fms/store-kit/mongodb'
import { FormChanges } from '../changes/form-changes.ts'
import { filterTooExpensive } from '../errors.ts'
import type { EventLog } from '../events/event-log.ts'
import type { FormsStore, FormsStoreOptions, ListOptions } from '../forms-store.ts'
import { defaultListTimeoutMs, throwAfter } from '../lists/list-timeout.ts'
import { noQuota } from '../quota.ts'
import type { RevisionGrowth } from '../revisions/revision-growth.ts'
import { metadataFields, storedFields, toFormMetadata, toStoredForm } from './convert-documents.ts'
import { type FormsCollections, formsCollections } from './documents.ts'
import { mongoEventLog } from './events/mongo-event-log.ts'
import { numberOrganization } from './events/number-events.ts'
import { findForm } from './find-form.ts'
import { type ListLimits, listDeleted, listForms, summaries, wholeForms } from './list-forms.ts'
import { mongoChanges } from './mongo-changes.ts'
import { findRevision, listRevisions, toListedRevision } from './revisions/find-revision.ts'
import { mongoRevisionGrowth } from './revisions/mongo-revision-growth.ts'
import { formsSchema } from './schema.ts'
import { listOrganizations, MongoQuota, readUsage } from './usage.ts'

/** A reader of the usage numbers pending events itself beyond this number: no relay seems to run. */
const maxPending = 1_000

/** The distributed forms store. Each change is one transaction; reads go to the primary. */
export class MongoFormsStore extends FormChanges implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: MongoDatabase
  readonly #collections: FormsCollections
  readonly #listTimeoutMs: number

  /** @param url `mongodb://…/DATABASE`, migrated. */
  constructor(url: string, options: FormsStoreOptions = {}) {
    const { quota = noQuota, listTimeoutMs = defaultListTimeoutMs, timeoutMs } = options
    const database = new MongoDatabase(url, formsSchema, {
      socketTimeoutMS: socketTimeoutMs(Math.max(listTimeoutMs, timeoutMs ?? 0)),
      ...(timeoutMs !== undefined && { engineTimeoutMs: timeoutMs }),
    })
    const collections = formsCollections(database)
    super(mongoChanges(collections, new MongoQuota(collections, quota)), options)
    this.#database = database
    this.#collections = collections
    this.#listTimeoutMs = listTimeoutMs
    this.events = mongoEventLog(collections)
    this.revisionGrowth = mongoRevisionGrowth(collections)
  }

  readonly get: FormsStore['get'] = async (ref) => {
    const form = await findForm(this.#collections, ref, { fields: storedFields })
    return form && toStoredForm(form)
  }

  readonly getMetadata: FormsStore['getMetadata'] = async (ref) => {
    const form = await findForm(this.#collections, ref, { fields: metadataFields })
    return form && toFormMetadata(form)
  }

  readonly list: FormsStore['list'] = (query, options = {}) =>
    this.#withTimeLimit(options, (limits) =>
      listForms(this.#collections, query, wholeForms, limits, () => this.usage(query.organizationId)),
    )

  readonly listSummaries: FormsStore['listSummaries'] = (query, options = {}) =>
    this.#withTimeLimit(options, (limits) =>
      listForms(this.#collections, query, summaries, limits, () => this.usage(query.organizationId)),
    )

  readonly listDeleted: FormsStore['listDeleted'] = (query, options = {}) =>
    this.#withTimeLimit(options, (limits) => listDeleted(this.#collections, query, limits))

  readonly listRevisions: FormsStore['listRevisions'] = (query, options = {}) =>
    this.#withTimeLimit(options, (limits) => listRevisions(this.#collections, query, limits))

  readonly getRevision: FormsStore['getRevision'] = async (ref, revisionRef) => {
    const found = await findRevision(this.#collections, ref, revisionRef)
    return found && { ...found.state, ...toListedRevision(found.revision, found.form) }
  }

  readonly getRevisionState: FormsStore['getRevisionState'] = async (ref, revisionRef) =>
    (await findRevision(this.#collections, ref, revisionRef, ['formId']))?.state

  readonly usage: FormsStore['usage'] = async (organizationId) => {
    const { forms, bytes, count } = await readUsage(this.#collections, organizationId)
    if (count > maxPending) void numberOrganization(this.#collections, organizationId).catch(() => {})
    return { forms, bytes }
  }

  /** Indexes: that of `_id` of publicIds, then that of forms: a deleted form keeps its public id. */
  readonly findOrganizationOf: FormsStore['findOrganizationOf'] = async (publicId) => {
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

  readonly organizations: FormsStore['organizations'] = () => listOrganizations(this.#collections)

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
    const throwIfLate = throwAfter(this.#listTimeoutMs)
    try {
      return await read({
        timeoutMs: this.#listTimeoutMs,
        ...(report && { report }),
        throwIfAborted: () => {
          signal?.throwIfAborted()
          throwIfLate()
        },
      })
    } catch (error) {
      throw isTimeLimit(error) ? filterTooExpensive(this.#listTimeoutMs) : error
    }
  }
}
