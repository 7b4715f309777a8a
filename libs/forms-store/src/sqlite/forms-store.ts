import { SqliteDatabase } from '@fms/store-kit'
import { FormChanges } from '../changes/form-changes.ts'
import type { EventLog } from '../events/event-log.ts'
import type { FormsStore, FormsStoreOptions, ListOptions, OrganizationForms } from '../forms-store.ts'
import { defaultListTimeoutMs, throwAfter } from '../lists/list-timeout.ts'
import { noQuota } from '../quota.ts'
import type { RevisionGrowth } from '../revisions/revision-growth.ts'
import { toFormMetadata, toStoredForm, toStoredRevision } from '../stored-rows.ts'
import { sqliteChanges } from './changes/sqlite-changes.ts'
import { sqliteEventLog } from './events/sqlite-event-log.ts'
import { findForm } from './find-form.ts'
import { anyPage, type PageBounds, smallPage } from './lists/page-bounds.ts'
import { type PageKind, type Pages, readPage } from './lists/pages.ts'
import { Reader } from './lists/reader.ts'
import { findRevision } from './revisions/find-revision.ts'
import { sqliteRevisionGrowth } from './revisions/sqlite-revision-growth.ts'
import { metadataColumns, storedColumns, toRevisionState } from './rows.ts'
import { migrations } from './schema.ts'
import { listOrganizations, readUsage } from './usage.ts'

/** Holds the beginnings of 1,000 forms of 4 KiB each. A page that is not cached costs a system call. */
const pageCacheBytes = 8 * 1024 * 1024

export interface SqliteFormsOptions extends FormsStoreOptions {
  /** Lists that read at most this many forms run on the main thread. For tests. */
  fewForms?: number
  /** The free bytes on the disk of the file. Default: measured. For tests. */
  diskFreeBytes?: () => number
}

/** The embedded forms store: one SQLite file, shared by the processes of one machine. */
export class SqliteFormsStore extends FormChanges implements FormsStore {
  readonly events: EventLog
  readonly revisionGrowth: RevisionGrowth
  readonly #database: SqliteDatabase

  /** Reads large pages. Absent for a database in memory, which has a single connection. */
  readonly #reader: Reader | undefined
  readonly #listTimeoutMs: number
  readonly #smallPage: PageBounds

  /** @param path a file, or `:memory:`. */
  constructor(path: string, options: SqliteFormsOptions = {}) {
    const {
      readOnly,
      quota = noQuota,
      listTimeoutMs = defaultListTimeoutMs,
      fewForms = smallPage.scanned,
      diskFreeBytes,
    } = options
    const database = new SqliteDatabase(path, migrations, { readOnly, pageCacheBytes, diskFreeBytes })
    super(sqliteChanges(database, quota), options)
    this.#database = database
    this.events = sqliteEventLog(database)
    this.revisionGrowth = sqliteRevisionGrowth(database)
    this.#listTimeoutMs = listTimeoutMs
    this.#smallPage = { ...smallPage, scanned: fewForms }
    if (path !== ':memory:') this.#reader = new Reader({ path, timeoutMs: listTimeoutMs })
  }

  readonly get: FormsStore['get'] = async (ref) => {
    const row = findForm(this.#database, ref, storedColumns, false)
    return row && toStoredForm(row)
  }

  readonly getMetadata: FormsStore['getMetadata'] = async (ref) => {
    const row = findForm(this.#database, ref, metadataColumns, false)
    return row && toFormMetadata(row)
  }

  readonly list: FormsStore['list'] = (query, options) => this.#read('forms', query, options)

  readonly listSummaries: FormsStore['listSummaries'] = (query, options) =>
    this.#read('summaries', query, options)

  readonly listDeleted: FormsStore['listDeleted'] = (query, options) =>
    this.#read('deletedForms', query, options)

  readonly listRevisions: FormsStore['listRevisions'] = (query, options) =>
    this.#read('revisions', query, options)

  readonly getRevision: FormsStore['getRevision'] = async (ref, revisionRef) => {
    const columns = 'organizationId, formId, number, commandId, createTime, publisher, note, form'
    const row = findRevision(this.#database, ref, revisionRef, columns)
    return row && { ...toRevisionState(row), revision: toStoredRevision(row) }
  }

  readonly getRevisionState: FormsStore['getRevisionState'] = async (ref, revisionRef) => {
    const row = findRevision(this.#database, ref, revisionRef)
    return row && toRevisionState(row)
  }

  readonly usage: FormsStore['usage'] = async (organizationId) => {
    const { forms, bytes } = readUsage(this.#database, organizationId)
    return { forms, bytes }
  }

  /** Index: the unique one of publicId. */
  readonly findOrganizationOf: FormsStore['findOrganizationOf'] = async (publicId) => {
    const row = this.#database.get(
      'SELECT organizationId FROM forms WHERE publicId = ? AND isDeleted = 0',
      publicId,
    )
    return row?.organizationId as string | undefined
  }

  async *organizations(): AsyncGenerator<OrganizationForms> {
    yield* listOrganizations(this.#database)
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

  /** Reads a small page on this thread and any other in a reader thread, each from one snapshot of the file. */
  async #read<K extends PageKind>(
    kind: K,
    query: Pages[K]['query'],
    options: ListOptions = {},
  ): Promise<Pages[K]['page']> {
    options.signal?.throwIfAborted()
    const { report = { waitedMs: 0 } } = options
    const small = readPage(this.#database, kind, query, this.#smallPage, report)
    if (small !== 'large') return small
    if (this.#reader) return this.#reader.read(kind, query, options, report)
    const throwIfLate = throwAfter(this.#listTimeoutMs)
    return readPage(this.#database, kind, query, anyPage, report, throwIfLate) as Pages[K]['page']
  }
}
