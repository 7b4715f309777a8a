import type { EventType, FormRecord } from '@fms/contracts'
import {
  conflictDeadline,
  KeyedMutex,
  retryOnConflict,
  SqliteDatabase,
  type writeConflict,
} from '@fms/store-kit'
import { ClearingLoop } from '../clearing-loop.ts'
import { newDeletion } from '../deletions/deletion.ts'
import { filterTooExpensive, updateAborted } from '../errors.ts'
import type { EventLog } from '../events/event-log.ts'
import { type ChangeContext, operatorContext } from '../events/recorded-event.ts'
import type {
  ChangedForm,
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
import { clearDeletions, writeOnceCleared } from './changes/clear-deletions.ts'
import { createForm } from './changes/create-form.ts'
import { deleteForm } from './changes/delete-form.ts'
import { publishForm } from './changes/publish-form.ts'
import { isPurgeDue, purgeDueForms, purgeForm } from './changes/purge-form.ts'
import { recordReplies } from './changes/record-replies.ts'
import { undeleteForm } from './changes/undelete-form.ts'
import { unpublishForm } from './changes/unpublish-form.ts'
import { updateForm } from './changes/update-form.ts'
import { checkRequest } from './events/check-request.ts'
import { type Recording, recordEvent } from './events/record-event.ts'
import { SqliteEventLog } from './events/sqlite-event-log.ts'
import { findDeletedForm, findForm, findFormState } from './find-form.ts'
import { readDeletedForms } from './lists/read-deleted-forms.ts'
import { readForms, readSmallForms } from './lists/read-forms.ts'
import { readRevisions, readSmallRevisions } from './lists/read-revisions.ts'
import { readSmallSummaries, readSummaries } from './lists/read-summaries.ts'
import { Reader } from './lists/reader.ts'
import { type PageSteps, runInTurns } from './lists/steps.ts'
import { exportForms } from './records/export-forms.ts'
import { importForm } from './records/import-form.ts'
import { findRevision, findRevisionOfCommand } from './revisions/find-revision.ts'
import { SqliteRevisionGrowth } from './revisions/sqlite-revision-growth.ts'
import { toRevisionState, toStoredForm, toStoredRevision } from './rows.ts'
import { functions, migrations } from './schema.ts'
import { checkQuota, listOrganizations, readUsage } from './usage.ts'

/** Holds the beginnings of 1,000 forms of 4 KiB each. A page that is not cached costs a system call. */
const pageCacheBytes = 8 * 1024 * 1024

/** Time limit of a list, unless the options set another. */
const defaultListTimeoutMs = 2_000

/** How long a create clears what a purged form with the same id has left, in milliseconds. */
const maxClearingMs = 5_000

export interface SqliteFormsOptions extends FormsStoreOptions {
  /** Lists that read at most this many forms run on the main thread. For tests. */
  fewForms?: number
}

/** The embedded forms store: one SQLite file, shared by the processes of one machine. */
export class SqliteFormsStore implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: SqliteDatabase
  readonly #onRecorded: (organizationId: string, type: EventType) => void
  /** Serializes the changes of each form in this process. */
  readonly #formMutex = new KeyedMutex()
  readonly #quota: Quota
  readonly #deletedFormsDays: number
  readonly #clearing: ClearingLoop | undefined

  /** Reads large pages. Absent for a database in memory, which has a single connection. */
  readonly #reader: Reader | undefined
  readonly #listTimeoutMs: number
  readonly #fewForms: number | undefined

  /** @param path a file, or `:memory:`. */
  constructor(
    path: string,
    {
      readOnly,
      clears = !readOnly,
      quota = noQuota,
      deletedFormsDays = 0,
      listTimeoutMs = defaultListTimeoutMs,
      onRecorded = () => {},
      fewForms,
    }: SqliteFormsOptions = {},
  ) {
    // Revisions and replies are deleted after their form: docs/decisions/0016-deferred-cascade-delete.md.
    this.#database = new SqliteDatabase(path, migrations, {
      readOnly,
      foreignKeys: false,
      functions,
      pageCacheBytes,
    })
    this.events = new SqliteEventLog(this.#database)
    this.revisionGrowth = new SqliteRevisionGrowth(this.#database)
    this.#onRecorded = onRecorded
    this.#quota = quota
    this.#deletedFormsDays = deletedFormsDays
    this.#listTimeoutMs = listTimeoutMs
    this.#fewForms = fewForms
    if (path !== ':memory:') this.#reader = new Reader({ path, timeoutMs: listTimeoutMs })
    if (clears) this.#clearing = new ClearingLoop((signal) => this.#clear(signal))
  }

  create(form: StoredForm, context?: ChangeContext): Promise<StoredForm | undefined> {
    return this.#recording(form, context, (recording) =>
      writeOnceCleared(
        this.#database,
        form,
        () => createForm(this.#database, this.#quota, form, recording),
        maxClearingMs,
      ),
    )
  }

  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const row = findForm(this.#database, ref)
    return row && toStoredForm(row)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    return findFormState(this.#database, ref)
  }

  /** Reads small pages on this thread and all others in the reader thread, each from one snapshot of the file. */
  async list(query: ListFormsQuery, options: ListOptions = {}): Promise<FormsPage> {
    const small = this.#database.snapshot(() => readSmallForms(this.#database, query, this.#fewForms))
    if (small) return small
    const { items, end } = this.#reader
      ? await this.#reader.read('forms', query, options)
      : await this.#readInTurns(readForms(this.#database, query), options)
    return { forms: items, ...end }
  }

  /** Reads pages as `list` does, but up to 1,000 forms along an index on this thread. */
  async listSummaries(query: ListFormsQuery, options: ListOptions = {}): Promise<FormSummariesPage> {
    const small = this.#database.snapshot(() => readSmallSummaries(this.#database, query, this.#fewForms))
    if (small) return small
    const { items, end } = this.#reader
      ? await this.#reader.read('summaries', query, options)
      : await this.#readInTurns(readSummaries(this.#database, query), options)
    return { forms: items, ...end }
  }

  update(
    ref: FormRef,
    change: (current: StoredForm) => ChangedForm | Promise<ChangedForm>,
    context?: ChangeContext,
    restored?: RestoredRevision,
  ): Promise<StoredForm | undefined> {
    return this.#recording(ref, context, (recording) =>
      this.#retryOnConflict(ref, () =>
        updateForm(this.#database, this.#quota, ref, change, recording, restored),
      ),
    )
  }

  async delete(
    ref: FormRef,
    check: (current: FormState) => void,
    context: ChangeContext = operatorContext,
  ): Promise<boolean> {
    const deletionAt = (time: Date) => newDeletion(time, this.#deletedFormsDays, context.actor)
    const isDeleted = await this.#recording(ref, context, (recording) =>
      deleteForm(this.#database, ref, check, deletionAt, recording),
    )
    if (isDeleted) this.#clearing?.wake()
    return isDeleted
  }

  async listDeleted(query: ListDeletedFormsQuery, options?: ListOptions): Promise<DeletedFormsPage> {
    const { end } = await this.#readInTurns(readDeletedForms(this.#database, query), options)
    return end
  }

  async getDeleted(ref: FormRef): Promise<StoredForm | undefined> {
    const row = findDeletedForm(this.#database, ref)
    return row && toStoredForm(row)
  }

  undelete(
    ref: FormRef,
    check: (deleted: StoredForm) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined> {
    return this.#recording(ref, context, (recording) =>
      undeleteForm(this.#database, this.#quota, ref, check, recording),
    )
  }

  async purge(ref: FormRef, check: (deleted: FormState) => void, context?: ChangeContext): Promise<boolean> {
    const isPurged = await this.#recording(ref, context, (recording) =>
      purgeForm(this.#database, ref, check, recording),
    )
    if (isPurged) this.#clearing?.wake()
    return isPurged
  }

  async checkRequest(
    organizationId: string,
    formRef: string | undefined,
    request: IdentifiedRequest,
  ): Promise<void> {
    checkRequest(this.#database, organizationId, formRef, request)
  }

  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const row = findRevisionOfCommand(this.#database, organizationId, commandId)
    return row && toStoredRevision(row)
  }

  publish(
    ref: FormRef,
    commandId: string,
    snapshot: TakeSnapshot,
    beforeStoring?: () => void,
    context?: ChangeContext,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    return this.#recording(ref, context, ({ record }) => {
      const command = { ref, commandId, snapshot, beforeStoring, record }
      return this.#retryOnConflict(ref, () => publishForm(this.#database, this.#quota, command))
    })
  }

  unpublish(
    ref: FormRef,
    note: string,
    check: (current: FormState) => void,
    context?: ChangeContext,
  ): Promise<StoredForm | undefined> {
    return this.#recording(ref, context, (recording) =>
      unpublishForm(this.#database, ref, note, check, recording),
    )
  }

  /** Reads pages as `list` does. Index: revisions_by_number. */
  async listRevisions(
    query: ListRevisionsQuery,
    options: ListOptions = {},
  ): Promise<RevisionsPage | undefined> {
    const small = this.#database.snapshot(() => readSmallRevisions(this.#database, query))
    if (small !== 'large') return small
    const { items, end } = this.#reader
      ? await this.#reader.read('revisions', query, options)
      : await this.#readInTurns(readRevisions(this.#database, query), options)
    return end && { revisions: items, ...end }
  }

  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(ListedRevision & RevisionState) | undefined> {
    const columns = 'organizationId, formId, number, commandId, createTime, publisher, note, form'
    const row = findRevision(this.#database, ref, revisionRef, columns)
    return row && { ...toRevisionState(row), revision: toStoredRevision(row) }
  }

  async getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined> {
    const row = findRevision(this.#database, ref, revisionRef)
    return row && toRevisionState(row)
  }

  recordReplies(replies: Replies): Promise<number> {
    return recordReplies(this.#database, replies)
  }

  async usage(organizationId: string): Promise<Usage> {
    return readUsage(this.#database, organizationId)
  }

  async checkQuota(organizationId: string, growth: Usage): Promise<void> {
    checkQuota(this.#database, this.#quota, organizationId, growth)
  }

  /** Index: the unique one of publicId. */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const row = this.#database.get('SELECT organizationId FROM forms WHERE publicId = ?', publicId)
    return row?.organizationId as string | undefined
  }

  async *organizations(): AsyncGenerator<OrganizationForms> {
    yield* listOrganizations(this.#database)
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#database, organizationId)
  }

  importForm(form: FormRecord, { recordsEvent = true }: ImportOptions = {}): Promise<Imported> {
    return this.#recording(form, operatorContext, ({ record }) =>
      writeOnceCleared(this.#database, form, () =>
        importForm(this.#database, form, recordsEvent ? record : undefined),
      ),
    )
  }

  async ping(): Promise<void> {
    this.#database.ping()
  }

  async close(): Promise<void> {
    await this.#reader?.close()
    await this.#clearing?.close()
    await this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * Runs a change that records an event, and calls `onRecorded` after its commit.
   *
   * @param target the form as the request names it: without `formRef` for a create.
   */
  async #recording<T>(
    { organizationId, formRef }: Pick<FormRef, 'organizationId'> & Partial<FormRef>,
    context: ChangeContext = operatorContext,
    change: (recording: Recording) => Promise<T>,
  ): Promise<T> {
    let recorded: EventType | undefined
    const { request } = context
    const result = await change({
      checkRequest: () => request && checkRequest(this.#database, organizationId, formRef, request),
      record: (form, fields) => {
        recordEvent(this.#database, form, fields, context)
        recorded = fields.type
      },
    })
    if (recorded) this.#onRecorded(organizationId, recorded)
    return result
  }

  /** Purges the deleted forms whose time has come, and clears what purged and deleted forms have left. */
  async #clear(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && isPurgeDue(this.#database)) {
      await this.#purgeDueForms()
      // Yields to other requests between two batches.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await clearDeletions(this.#database, signal)
  }

  async #purgeDueForms(): Promise<void> {
    let purged: string[] = []
    await this.#database.write(() => {
      // The change may run again.
      purged = []
      purgeDueForms(this.#database, (form, fields) => {
        recordEvent(this.#database, form, fields, operatorContext)
        purged.push(form.organizationId)
      })
    })
    for (const organizationId of purged) this.#onRecorded(organizationId, 'form.purged')
  }

  /** Repeats a compare-and-set of a form until it succeeds, or ABORTED 5 s after the call. */
  #retryOnConflict<T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>): Promise<T> {
    const deadline = conflictDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      retryOnConflict(attempt, () => updateAborted(ref), deadline),
    )
  }

  /** Reads a page on this thread: a large one of a database in memory, or of deleted forms, which have no drafts. */
  async #readInTurns<Item, End>(
    steps: PageSteps<Item, End>,
    { signal }: ListOptions = {},
  ): Promise<{ items: Item[]; end: End }> {
    const deadline = performance.now() + this.#listTimeoutMs
    const items: Item[] = []
    const end = await runInTurns(
      steps,
      (item) => items.push(item),
      () => {
        signal?.throwIfAborted()
        if (performance.now() > deadline) throw filterTooExpensive(this.#listTimeoutMs)
      },
    )
    return { items, end }
  }
}
