import type { FormRecord } from '@fms/contracts'
import {
  type BeforeWrite,
  conflictDeadline,
  isTimeLimit,
  KeyedMutex,
  MongoDatabase,
  retryOnConflict,
  socketTimeoutMs,
  type writeConflict,
} from '@fms/store-kit/mongodb'
import { ClearingLoop } from '../clearing-loop.ts'
import { filterTooExpensive, updateAborted } from '../errors.ts'
import type { EventLog } from '../events/event-log.ts'
import { type ChangeContext, operatorContext } from '../events/recorded-event.ts'
import type {
  ChangedForm,
  CreateOptions,
  DeletedFormsPage,
  FormRef,
  FormState,
  FormSummariesPage,
  FormsPage,
  FormsStore,
  FormsStoreOptions,
  Imported,
  ImportOptions,
  ListDeletedFormsQuery,
  ListedRevision,
  ListFormsQuery,
  ListOptions,
  ListRevisionsQuery,
  OrganizationForms,
  Quota,
  Replies,
  RestoredRevision,
  RevisionState,
  RevisionsPage,
  StoredForm,
  StoredRevision,
  TakeSnapshot,
  Usage,
} from '../forms-store.ts'
import { noQuota } from '../quota.ts'
import type { IdentifiedRequest } from '../requests/identified-request.ts'
import type { RevisionGrowth } from '../revisions/revision-growth.ts'
import { clearDeletions } from './changes/clear-deletions.ts'
import { createForm } from './changes/create-form.ts'
import { deleteForm } from './changes/delete-form.ts'
import { publishForm } from './changes/publish-form.ts'
import { recordReplies } from './changes/record-replies.ts'
import { unpublishForm } from './changes/unpublish-form.ts'
import { updateForm } from './changes/update-form.ts'
import {
  stateFields,
  storedFields,
  toFormState,
  toStoredForm,
  toStoredRevision,
} from './convert-documents.ts'
import { getDeleted } from './deleted-forms/find-deleted.ts'
import { listDeleted } from './deleted-forms/list-deleted.ts'
import { purgeForm } from './deleted-forms/purge-form.ts'
import { undeleteForm } from './deleted-forms/undelete-form.ts'
import { type FormsCollections, formsCollections } from './documents.ts'
import { MongoEventLog } from './events/mongo-event-log.ts'
import type { ChangeRecorder } from './events/record-event.ts'
import { findForm } from './find-form.ts'
import { type ListLimits, listForms, summaries, wholeForms } from './list-forms.ts'
import { exportForms, listOrganizations } from './records/export-forms.ts'
import { importForm } from './records/import-form.ts'
import { checkRequest, withRequest } from './request-ids/request-in-progress.ts'
import { findRevision, findRevisionOfCommand } from './revisions/find-revision.ts'
import { listRevisions, toListedRevision } from './revisions/list-revisions.ts'
import { MongoRevisionGrowth } from './revisions/mongo-revision-growth.ts'
import { formsSchema } from './schema.ts'
import { checkQuota, readUsage } from './usage.ts'
import { noteMemory } from './usage-notes.ts'

/** Hooks for tests. */
export interface MongoFormsStoreHooks {
  beforeWrite?: BeforeWrite
  /** How long a create or delete can be in flight, in milliseconds. Default: 15,000. */
  inFlightMs?: number
}

/** Time limit of a list, unless the options set another. */
const defaultListTimeoutMs = 2_000

/**
 * The distributed forms store. Each write changes one document atomically; longer changes are sequences of such writes
 * that survive a crash between any two: docs/decisions/0004-mongodb-without-transactions.md.
 *
 * Revisions and replies are invisible without their form's document.
 */
export class MongoFormsStore implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: MongoDatabase
  readonly #collections: FormsCollections
  /** Serializes the changes of each form in this process. */
  readonly #formMutex = new KeyedMutex()

  readonly #listTimeoutMs: number
  readonly #quota: Quota
  readonly #deletedFormsDays: number
  readonly #onRecorded: NonNullable<FormsStoreOptions['onRecorded']>
  readonly #clearing: ClearingLoop | undefined

  /** @param url `mongodb://…/DATABASE`, migrated. */
  constructor(
    url: string,
    {
      readOnly,
      clears = !readOnly,
      quota = noQuota,
      listTimeoutMs = defaultListTimeoutMs,
      timeoutMs,
      onRecorded = () => {},
      deletedFormsDays = 0,
    }: FormsStoreOptions = {},
    { beforeWrite, inFlightMs }: MongoFormsStoreHooks = {},
  ) {
    this.#database = new MongoDatabase(url, beforeWrite, formsSchema, {
      socketTimeoutMS: socketTimeoutMs(Math.max(listTimeoutMs, timeoutMs ?? 0)),
      ...(timeoutMs !== undefined && { engineTimeoutMs: timeoutMs }),
    })
    this.#listTimeoutMs = listTimeoutMs
    this.#collections = formsCollections(this.#database)
    this.events = new MongoEventLog(this.#collections)
    this.revisionGrowth = new MongoRevisionGrowth(this.#collections)
    this.#onRecorded = onRecorded
    noteMemory(this.#collections, inFlightMs)
    this.#quota = quota
    this.#deletedFormsDays = deletedFormsDays
    const clear = (signal: AbortSignal) =>
      clearDeletions(this.#collections, signal, Date.now(), this.#onRecorded)
    if (clears) this.#clearing = new ClearingLoop(clear)
  }

  create(
    form: StoredForm,
    context?: ChangeContext,
    options?: CreateOptions,
  ): Promise<StoredForm | undefined> {
    return this.#withRequest(form, context, (recorder) =>
      createForm(this.#collections, this.#quota, form, recorder, options),
    )
  }

  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const form = await findForm(this.#collections, ref, storedFields)
    return form && toStoredForm(form)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    const form = await findForm(this.#collections, ref, stateFields)
    return form && toFormState(form)
  }

  list(query: ListFormsQuery, options: ListOptions = {}): Promise<FormsPage> {
    return this.#withTimeLimit(options, (limits) => listForms(this.#collections, query, wholeForms, limits))
  }

  listSummaries(query: ListFormsQuery, options: ListOptions = {}): Promise<FormSummariesPage> {
    return this.#withTimeLimit(options, (limits) => listForms(this.#collections, query, summaries, limits))
  }

  update(
    ref: FormRef,
    change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
    context?: ChangeContext,
    restored?: RestoredRevision,
  ): Promise<StoredForm | undefined> {
    return this.#withRequest(ref, context, (recorder) =>
      this.#retryOnConflict(ref, () =>
        updateForm(this.#collections, this.#quota, ref, change, recorder, restored),
      ),
    )
  }

  async delete(ref: FormRef, check: (current: FormState) => void, context?: ChangeContext): Promise<boolean> {
    const isDeleted = await this.#withRequest(ref, context, (recorder) =>
      deleteForm(this.#collections, ref, check, recorder, this.#deletedFormsDays),
    )
    if (isDeleted) this.#clearing?.wake()
    return isDeleted
  }

  /** Index: deletions_by_deleteTime. */
  listDeleted(query: ListDeletedFormsQuery, options: ListOptions = {}): Promise<DeletedFormsPage> {
    return this.#withTimeLimit(options, (limits) => listDeleted(this.#collections, query, limits))
  }

  getDeleted(ref: FormRef): Promise<StoredForm | undefined> {
    return getDeleted(this.#collections, ref)
  }

  undelete(
    ref: FormRef,
    check: (deleted: StoredForm) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined> {
    return this.#withRequest(ref, context, (recorder) =>
      undeleteForm(this.#collections, this.#quota, { ref, check, recorder }, (form, attempt) =>
        this.#retryOnConflict(form, attempt),
      ),
    )
  }

  async purge(ref: FormRef, check: (deleted: FormState) => void, context?: ChangeContext): Promise<boolean> {
    const isPurged = await this.#withRequest(ref, context, (recorder) =>
      this.#retryOnConflict(ref, () => purgeForm(this.#collections, ref, check, recorder)),
    )
    if (isPurged) this.#clearing?.wake()
    return isPurged
  }

  checkRequest(
    organizationId: string,
    formRef: string | undefined,
    request: IdentifiedRequest,
  ): Promise<void> {
    const attempt = () => checkRequest(this.#collections, organizationId, formRef, request)
    return retryOnConflict(attempt, () => updateAborted({ organizationId, formRef }))
  }

  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const revision = await findRevisionOfCommand(this.#collections, organizationId, commandId)
    return revision && toStoredRevision(revision)
  }

  publish(
    ref: FormRef,
    commandId: string,
    snapshot: TakeSnapshot,
    beforeStoring?: () => void,
    context?: ChangeContext,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    const command = { ref, commandId, snapshot, beforeStoring, recorder: this.#recorder(context) }
    return publishForm(this.#collections, this.#quota, command, (form, attempt) =>
      this.#retryOnConflict(form, attempt),
    )
  }

  unpublish(
    ref: FormRef,
    note: string,
    check: (current: FormState) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined> {
    return this.#withRequest(ref, context, (recorder) =>
      this.#retryOnConflict(ref, () => unpublishForm(this.#collections, ref, note, check, recorder)),
    )
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

  /** Indexes: that of `_id`, and replies_by_incarnation; for a deleted form, deletions_by_form. */
  recordReplies(replies: Replies): Promise<number> {
    const { organizationId, formId } = replies
    return this.#retryOnConflict({ organizationId, formRef: formId }, () =>
      recordReplies(this.#collections, replies),
    )
  }

  /** Index: that of `_id`. */
  usage(organizationId: string): Promise<Usage> {
    return readUsage(this.#collections, organizationId)
  }

  checkQuota(organizationId: string, growth: Usage): Promise<void> {
    return checkQuota(this.#collections, this.#quota, organizationId, growth)
  }

  /**
   * Indexes: that of `_id` of publicIds, then forms_by_publicId_and_id, since a public id stays reserved without its
   * form.
   */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const reserved = await this.#collections.publicIds.findOne({ _id: publicId })
    if (!reserved) return undefined
    const { organizationId } = reserved
    const form = await this.#collections.forms.findOne({ organizationId, publicId }, ['organizationId'])
    return form?.organizationId
  }

  organizations(): AsyncIterable<OrganizationForms> {
    return listOrganizations(this.#collections)
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#collections, organizationId)
  }

  importForm(record: FormRecord, { recordsEvent = true }: ImportOptions = {}): Promise<Imported> {
    return importForm(this.#collections, record, recordsEvent ? this.#recorder() : undefined)
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

  #recorder(context: ChangeContext = operatorContext): ChangeRecorder {
    return { context, onRecorded: this.#onRecorded }
  }

  #withRequest<T>(
    { organizationId }: Pick<FormRef, 'organizationId'>,
    context: ChangeContext | undefined,
    change: (recorder: ChangeRecorder) => Promise<T>,
  ): Promise<T> {
    return withRequest(this.#collections, organizationId, this.#recorder(context), change)
  }

  /** @throws {ApiError} FILTER_TOO_EXPENSIVE when `read` exceeds the time limit; the signal's reason. */
  async #withTimeLimit<T>({ signal }: ListOptions, read: (limits: ListLimits) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#listTimeoutMs
    try {
      return await read({
        timeoutMs: this.#listTimeoutMs,
        throwIfAborted: () => {
          signal?.throwIfAborted()
          if (performance.now() > deadline) throw filterTooExpensive(this.#listTimeoutMs)
        },
      })
    } catch (error) {
      throw isTimeLimit(error) ? filterTooExpensive(this.#listTimeoutMs) : error
    }
  }

  /** Repeats a compare-and-set of a form until it succeeds, or ABORTED 5 s after the call. */
  #retryOnConflict<T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>): Promise<T> {
    const deadline = conflictDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      retryOnConflict(attempt, () => updateAborted(ref), deadline),
    )
  }
}
