import type { FormRecord } from '@fms/contracts'
import { SqliteDatabase } from '@fms/store-kit'
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
  Quota,
  RevisionState,
  RevisionsPage,
  StoredForm,
  StoredRevision,
  Usage,
} from '../forms-store.ts'
import { noQuota, withRoomForEvent } from '../quota.ts'
import type { RevisionGrowth } from '../revisions/revision-growth.ts'
import { SqliteChanges } from './changes/sqlite-changes.ts'
import { SqliteEventLog } from './events/sqlite-event-log.ts'
import { findDeletedForm, findForm } from './find-form.ts'
import { readDeletedForms } from './lists/read-deleted-forms.ts'
import { readForms, readSmallForms } from './lists/read-forms.ts'
import { readRevisions, readSmallRevisions } from './lists/read-revisions.ts'
import { readSmallSummaries, readSummaries } from './lists/read-summaries.ts'
import { Reader } from './lists/reader.ts'
import { type PageSteps, runInTurns } from './lists/steps.ts'
import { exportForms } from './records/export-forms.ts'
import { findRevision, findRevisionOfCommand } from './revisions/find-revision.ts'
import { SqliteRevisionGrowth } from './revisions/sqlite-revision-growth.ts'
import { stateColumns, toFormState, toRevisionState, toStoredForm, toStoredRevision } from './rows.ts'
import { migrations } from './schema.ts'
import { checkQuota, listOrganizations, readUsage } from './usage.ts'

/** Holds the beginnings of 1,000 forms of 4 KiB each. A page that is not cached costs a system call. */
const pageCacheBytes = 8 * 1024 * 1024

/** Time limit of a list, unless the options set another. */
const defaultListTimeoutMs = 2_000

export interface SqliteFormsOptions extends FormsStoreOptions {
  /** Lists that read at most this many forms run on the main thread. For tests. */
  fewForms?: number
}

/** The embedded forms store: one SQLite file, shared by the processes of one machine. */
export class SqliteFormsStore extends FormChanges implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: SqliteDatabase
  readonly #quota: Quota

  /** Reads large pages. Absent for a database in memory, which has a single connection. */
  readonly #reader: Reader | undefined
  readonly #listTimeoutMs: number
  readonly #fewForms: number | undefined

  /** @param path a file, or `:memory:`. */
  constructor(path: string, options: SqliteFormsOptions = {}) {
    const { readOnly, quota = noQuota, listTimeoutMs = defaultListTimeoutMs, fewForms } = options
    const database = new SqliteDatabase(path, migrations, { readOnly, pageCacheBytes })
    super(new SqliteChanges(database, quota), options)
    this.#database = database
    this.events = new SqliteEventLog(database)
    this.revisionGrowth = new SqliteRevisionGrowth(database)
    this.#quota = quota
    this.#listTimeoutMs = listTimeoutMs
    this.#fewForms = fewForms
    if (path !== ':memory:') this.#reader = new Reader({ path, timeoutMs: listTimeoutMs })
  }

  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const row = findForm(this.#database, ref)
    return row && toStoredForm(row)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    const row = findForm(this.#database, ref, stateColumns)
    return row && toFormState(row)
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

  async listDeleted(query: ListDeletedFormsQuery, options?: ListOptions): Promise<DeletedFormsPage> {
    const { end } = await this.#readInTurns(readDeletedForms(this.#database, query), options)
    return end
  }

  async getDeleted(ref: FormRef): Promise<StoredForm | undefined> {
    const row = findDeletedForm(this.#database, ref)
    return row && toStoredForm(row)
  }

  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const row = findRevisionOfCommand(this.#database, organizationId, commandId)
    return row && toStoredRevision(row)
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

  async usage(organizationId: string): Promise<Usage> {
    const { forms, bytes } = readUsage(this.#database, organizationId)
    return { forms, bytes }
  }

  async checkQuota(organizationId: string, growth: Partial<Usage>): Promise<void> {
    checkQuota(this.#database, this.#quota, organizationId, withRoomForEvent(growth))
  }

  /** Index: the unique one of publicId. */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const row = this.#database.get(
      'SELECT organizationId FROM forms WHERE publicId = ? AND isDeleted = 0',
      publicId,
    )
    return row?.organizationId as string | undefined
  }

  async *organizations(): AsyncGenerator<OrganizationForms> {
    yield* listOrganizations(this.#database)
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#database, organizationId)
  }

  async ping(): Promise<void> {
    this.#database.ping()
  }

  async close(): Promise<void> {
    await this.#reader?.close()
    await this.stopClearing()
    await this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
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
