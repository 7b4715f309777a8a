import type { FormRecord } from '@fms/contracts'
import {
  conflictDeadline,
  KeyedMutex,
  retryOnConflict,
  SqliteDatabase,
  type writeConflict,
} from '@fms/store-kit'
import { ClearingLoop } from '../clearing-loop.ts'
import { filterTooExpensive, updateAborted } from '../errors.ts'
import type {
  FormRef,
  FormState,
  FormSummariesPage,
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
import { noQuota } from '../quota.ts'
import { clearDeletions, writeOnceCleared } from './changes/clear-deletions.ts'
import { deleteForm } from './changes/delete-form.ts'
import { publishForm } from './changes/publish-form.ts'
import { recordReplies } from './changes/record-replies.ts'
import { updateForm } from './changes/update-form.ts'
import { findForm, findFormState } from './find-form.ts'
import { findRevision, findRevisionOfCommand } from './find-revision.ts'
import { readForms, readSmallForms } from './lists/read-forms.ts'
import { readRevisions, readSmallRevisions } from './lists/read-revisions.ts'
import { readSmallSummaries, readSummaries } from './lists/read-summaries.ts'
import { Reader } from './lists/reader.ts'
import { type PageSteps, runInTurns } from './lists/steps.ts'
import { exportForms } from './records/export-forms.ts'
import { importForm } from './records/import-form.ts'
import { newFormColumns, toRevisionState, toStoredForm, toStoredRevision } from './rows.ts'
import { functions, migrations } from './schema.ts'
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
export class SqliteFormsStore implements FormsStore {
  readonly #database: SqliteDatabase
  /** Serializes the changes of each form in this process. */
  readonly #formMutex = new KeyedMutex()
  readonly #quota: Quota
  readonly #clearing: ClearingLoop | undefined

  /** Reads large pages. Absent for a database in memory, which has a single connection. */
  readonly #reader: Reader | undefined
  readonly #listTimeoutMs: number
  readonly #fewForms: number | undefined

  /** @param path a file, or `:memory:`. */
  constructor(
    path: string,
    { readOnly, quota = noQuota, listTimeoutMs = defaultListTimeoutMs, fewForms }: SqliteFormsOptions = {},
  ) {
    // Revisions and replies are deleted after their form: docs/decisions/0016-deferred-cascade-delete.md.
    this.#database = new SqliteDatabase(path, migrations, {
      readOnly,
      foreignKeys: false,
      functions,
      pageCacheBytes,
    })
    this.#quota = quota
    this.#listTimeoutMs = listTimeoutMs
    this.#fewForms = fewForms
    if (path !== ':memory:') this.#reader = new Reader({ path, timeoutMs: listTimeoutMs })
    if (!readOnly) this.#clearing = new ClearingLoop((signal) => clearDeletions(this.#database, signal))
  }

  create(form: StoredForm): Promise<boolean> {
    const { organizationId, formId, draftJson } = form
    return writeOnceCleared(this.#database, formId, () => {
      const growth = { forms: 1, bytes: Buffer.byteLength(draftJson) }
      checkQuota(this.#database, this.#quota, organizationId, growth)
      return this.#database.insert('forms', newFormColumns(form), '(publicId)')
    })
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
    change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
  ): Promise<StoredForm | undefined> {
    return this.#retryOnConflict(ref, () => updateForm(this.#database, this.#quota, ref, change))
  }

  async delete(ref: FormRef, check: (current: FormState) => void): Promise<boolean> {
    const isDeleted = await deleteForm(this.#database, ref, check)
    if (isDeleted) this.#clearing?.wake()
    return isDeleted
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
    snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>,
    beforeStoring?: () => void,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    const command = { ref, commandId, snapshot, beforeStoring }
    return this.#retryOnConflict(ref, () => publishForm(this.#database, this.#quota, command))
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
    const columns = 'organizationId, formId, number, commandId, createTime, form'
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

  importForm(record: FormRecord): Promise<Imported> {
    return writeOnceCleared(this.#database, record.formId, () => importForm(this.#database, record))
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

  /** Repeats a compare-and-set of a form until it succeeds, or ABORTED 5 s after the call. */
  #retryOnConflict<T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>): Promise<T> {
    const deadline = conflictDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      retryOnConflict(attempt, () => updateAborted(ref), deadline),
    )
  }

  /** Reads a large page on this thread, for a database in memory. */
  async #readInTurns<Item, End>(
    steps: PageSteps<Item, End>,
    { signal }: ListOptions,
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
