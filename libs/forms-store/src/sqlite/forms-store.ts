import { type FormRecord, liveAlias } from '@fms/contracts'
import {
  conflictDeadline,
  KeyedMutex,
  type Row,
  retryOnConflict,
  SqliteDatabase,
  writeConflict,
} from '@fms/store-kit'
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
import { assertWithinQuota, noQuota } from '../quota.ts'
import { clearDeletions, clearForm, isBeingCleared, noteDeletion } from './clear-deletions.ts'
import { readForms, readSmallForms } from './lists/read-forms.ts'
import { readRevisions, readSmallRevisions } from './lists/read-revisions.ts'
import { Reader } from './lists/reader.ts'
import { inTurns, type PageSteps } from './lists/steps.ts'
import { exportForms, importForm } from './move-forms.ts'
import {
  draftColumns,
  formByRef,
  newFormColumns,
  revisionColumns,
  stateColumns,
  toFormState,
  toRevisionState,
  toStoredForm,
  toStoredRevision,
} from './rows.ts'
import { functions, migrations } from './schema.ts'

/** How long a list may take unless the caller of the store says otherwise. */
const defaultListTimeoutMs = 2_000

export interface SqliteFormsOptions extends FormsStoreOptions {
  /** So many forms are looked at in one go; for tests. */
  fewForms?: number
}

/** Of a revision: what a deleted form left is invisible until it is cleared. */
const hasForm = 'EXISTS (SELECT 1 FROM forms WHERE forms.formId = revisions.formId)'

/** The embedded forms store: one SQLite file, shared by the processes of one machine. */
export class SqliteFormsStore implements FormsStore {
  readonly #database: SqliteDatabase
  /** The changes of a form, one after the other in this process. */
  readonly #formMutex = new KeyedMutex()
  readonly #quota: Quota
  readonly #clearing: ClearingLoop | undefined

  /** Reads the pages that look at many forms, or hold much; none of a database in memory, which has one connection. */
  readonly #reader: Reader | undefined
  readonly #listTimeoutMs: number
  readonly #fewForms: number | undefined

  /** @param path a file, or `:memory:`. */
  constructor(
    path: string,
    { readOnly, quota = noQuota, listTimeoutMs = defaultListTimeoutMs, fewForms }: SqliteFormsOptions = {},
  ) {
    // What hangs on a form is cleared after it: docs/decisions/0016-deferred-cascade-delete.md.
    this.#database = new SqliteDatabase(path, migrations, { readOnly, foreignKeys: false, functions })
    this.#quota = quota
    this.#listTimeoutMs = listTimeoutMs
    this.#fewForms = fewForms
    if (path !== ':memory:') this.#reader = new Reader({ path, timeoutMs: listTimeoutMs })
    if (!readOnly) this.#clearing = new ClearingLoop((signal) => clearDeletions(this.#database, signal))
  }

  create(form: StoredForm): Promise<boolean> {
    const { organizationId, formId, draftJson } = form
    return this.#writeCleared(formId, () => {
      this.#assertWithinQuota(organizationId, { forms: 1, bytes: Buffer.byteLength(draftJson) })
      return this.#database.insert('forms', newFormColumns(form), '(publicId)')
    })
  }

  /** Indexes: the unique ones of formId and publicId. */
  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const row = this.#get(ref)
    return row && toStoredForm(row)
  }

  async getState(ref: FormRef): Promise<FormState | undefined> {
    const condition = formByRef(ref)
    const sql = `SELECT ${stateColumns} FROM forms WHERE ${condition?.sql}`
    const row = condition && this.#database.get(sql, ...condition.values)
    return row && toFormState(row)
  }

  /** Small pages are read at once, all others in the reader thread; each of one state of the file. */
  async list(query: ListFormsQuery, options: ListOptions = {}): Promise<FormsPage> {
    const small = this.#database.snapshot(() => readSmallForms(this.#database, query, this.#fewForms))
    if (small) return small
    const { items, end } = this.#reader
      ? await this.#reader.read('forms', query, options)
      : await this.#readInTurns(readForms(this.#database, query), options)
    return { forms: items, ...end }
  }

  update(
    ref: FormRef,
    change: (current: StoredForm) => StoredForm | Promise<StoredForm>,
  ): Promise<StoredForm | undefined> {
    return this.#changing(ref, async () => {
      const row = this.#get(ref)
      if (!row) return undefined
      const current = toStoredForm(row)
      const changed = await change(current)
      if (changed === current) return current
      return this.#database.write(() => this.#store(changed, row))
    })
  }

  async delete(ref: FormRef, check: (current: FormState) => void): Promise<boolean> {
    const condition = formByRef(ref)
    if (!condition) return false
    const isDeleted = await this.#database.write(() => {
      const row = this.#database.get(
        `SELECT ${stateColumns} FROM forms WHERE ${condition.sql}`,
        ...condition.values,
      )
      if (!row) return false
      const { organizationId, formId, ...state } = toFormState(row)
      check({ organizationId, formId, ...state })
      this.#database.run('DELETE FROM forms WHERE formId = ?', formId)
      noteDeletion(this.#database, organizationId, formId)
      return true
    })
    if (isDeleted) this.#clearing?.wake()
    return isDeleted
  }

  /** Index: revisions_by_command. */
  async findRevisionOfCommand(
    organizationId: string,
    commandId: string,
  ): Promise<StoredRevision | undefined> {
    const row = this.#database.get(
      `SELECT * FROM revisions WHERE organizationId = ? AND commandId = ? AND ${hasForm}`,
      organizationId,
      commandId,
    )
    return row && toStoredRevision(row)
  }

  /** The draft is checked outside of the transaction that stores its revision. Index: revisions_by_command. */
  publish(
    ref: FormRef,
    commandId: string,
    snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>,
    beforeStoring?: () => void,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    return this.#changing(ref, async () => {
      const row = this.#get(ref)
      if (!row) return undefined
      const current = toStoredForm(row)
      const earlier = this.#revisionOfCommand(current.organizationId, commandId)
      if (earlier) return this.#publishAgain(ref, current, earlier)
      const taken = await snapshot(current)
      return this.#database.write(() => {
        beforeStoring?.()
        return this.#publish(row, { ...taken, commandId })
      })
    })
  }

  /** As `list`. Index: revisions_by_number. */
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

  /** Index: the unique one of revisionId. */
  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(ListedRevision & RevisionState) | undefined> {
    const row = this.#revision(
      ref,
      revisionRef,
      'organizationId, formId, number, commandId, createTime, form',
    )
    return row && { ...toRevisionState(row), revision: toStoredRevision(row) }
  }

  async getRevisionState(ref: FormRef, revisionRef: string): Promise<RevisionState | undefined> {
    const row = this.#revision(ref, revisionRef)
    return row && toRevisionState(row)
  }

  /** One transaction. Index: the key of replies. */
  recordReplies({ organizationId, formId, replyIds }: Replies): Promise<number> {
    return this.#database.write(() => {
      if (!this.#has({ organizationId, formId })) return 0
      let counted = 0
      for (const id of replyIds) {
        counted += this.#database.run('INSERT OR IGNORE INTO replies VALUES (?, ?)', formId, id)
      }
      if (counted > 0) {
        this.#database.run('UPDATE forms SET replyCount = replyCount + ? WHERE formId = ?', counted, formId)
      }
      return counted
    })
  }

  /** Index: the key of usage. */
  async usage(organizationId: string): Promise<Usage> {
    return this.#usage(organizationId)
  }

  async checkQuota(organizationId: string, growth: Usage): Promise<void> {
    this.#assertWithinQuota(organizationId, growth)
  }

  /** Index: the unique one of publicId. */
  async findOrganizationOf(publicId: string): Promise<string | undefined> {
    const row = this.#database.get('SELECT organizationId FROM forms WHERE publicId = ?', publicId)
    return row?.organizationId as string | undefined
  }

  /** Index: the key of usage. */
  async *organizations(): AsyncGenerator<OrganizationForms> {
    const rows = this.#database.all('SELECT * FROM usage WHERE forms > 0 ORDER BY organizationId')
    for (const { organizationId, forms } of rows) {
      yield { organizationId: organizationId as string, forms: forms as number }
    }
  }

  exportForms(organizationId: string): AsyncIterable<FormRecord> {
    return exportForms(this.#database, organizationId)
  }

  importForm(record: FormRecord): Promise<Imported> {
    return this.#writeCleared(record.formId, () => importForm(this.#database, record))
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

  /** Part of a change: stores a form whose draft was changed, if it is still as it was read. */
  #store(changed: StoredForm, read: Row): StoredForm | undefined | typeof writeConflict {
    const { formId } = changed
    const row = this.#state(formId)
    if (!row) return undefined
    if (row.version !== read.version) return writeConflict
    const bytes = Buffer.byteLength(changed.draftJson) - Buffer.byteLength(read.draft as string)
    this.#assertWithinQuota(changed.organizationId, { forms: 0, bytes })
    this.#set(formId, differing(draftColumns(changed), read))
    return { ...changed, replyCount: row.replyCount as number, live: row.liveRevisionId !== null }
  }

  /** Part of a change: stores a snapshot of the form as it was read, if it still is, and makes it live. */
  #publish(
    read: Row,
    snapshot: Snapshot & { commandId: string },
  ): StoredForm | undefined | typeof writeConflict {
    const { organizationId, formId, ...current } = toStoredForm(read)
    const row = this.#state(formId)
    if (!row) return undefined
    if (row.version !== read.version || row.revisionNumber !== read.revisionNumber) return writeConflict
    this.#assertWithinQuota(organizationId, { forms: 0, bytes: Buffer.byteLength(snapshot.formJson) })
    const number = (row.revisionNumber as number) + 1
    const revision = { ...snapshot, organizationId, formId, number }
    if (!this.#insertRevision(revision)) return writeConflict
    this.#set(formId, { revisionNumber: number, liveNumber: number, liveRevisionId: revision.revisionId })
    return { ...current, organizationId, formId, live: true }
  }

  /** @returns false when the command has a revision that is not that of a deleted form. */
  #insertRevision(revision: StoredRevision): boolean {
    const insert = () =>
      this.#database.insert('revisions', revisionColumns(revision), '(organizationId, commandId)')
    if (insert()) return true
    const { organizationId, commandId } = revision
    if (this.#revisionOfCommand(organizationId, commandId)) return false
    const sql = 'DELETE FROM revisions WHERE organizationId = ? AND commandId = ?'
    this.#database.run(sql, organizationId, commandId)
    return insert()
  }

  /** Finishes the publish of a command that has its revision: an import may hold one that is not live yet. */
  async #publishAgain(
    ref: FormRef,
    current: StoredForm,
    earlier: Row,
  ): Promise<StoredForm | 'elsewhere' | undefined> {
    if (earlier.formId !== current.formId) return 'elsewhere'
    const { number, revisionId } = earlier
    await this.#database.write(() => {
      const sql = 'UPDATE forms SET liveNumber = ?, liveRevisionId = ? WHERE formId = ? AND liveNumber < ?'
      this.#database.run(sql, number!, revisionId!, current.formId, number!)
    })
    return this.get(ref)
  }

  #revisionOfCommand(organizationId: string, commandId: string): Row | undefined {
    return this.#database.get(
      `SELECT formId, revisionId, number FROM revisions WHERE organizationId = ? AND commandId = ? AND ${hasForm}`,
      organizationId,
      commandId,
    )
  }

  /** What compare-and-set looks at, without the draft. */
  #state(formId: string): Row | undefined {
    return this.#database.get(
      'SELECT version, revisionNumber, replyCount, liveRevisionId FROM forms WHERE formId = ?',
      formId,
    )
  }

  /** A compare-and-set of a form, until it wins. */
  #changing<T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>): Promise<T> {
    const deadline = conflictDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      retryOnConflict(attempt, () => updateAborted(ref), deadline),
    )
  }

  #get(ref: FormRef): Row | undefined {
    const condition = formByRef(ref)
    return condition && this.#database.get(`SELECT * FROM forms WHERE ${condition.sql}`, ...condition.values)
  }

  async #readInTurns<Item, End>(
    steps: PageSteps<Item, End>,
    { signal }: ListOptions,
  ): Promise<{ items: Item[]; end: End }> {
    const deadline = performance.now() + this.#listTimeoutMs
    const items: Item[] = []
    const end = await inTurns(
      steps,
      (item) => items.push(item),
      () => {
        signal?.throwIfAborted()
        if (performance.now() > deadline) throw filterTooExpensive(this.#listTimeoutMs)
      },
    )
    return { items, end }
  }

  /** @param columns of the revision, beside those of {@link toRevisionState}. */
  #revision(ref: FormRef, revisionRef: string, columns?: string): Row | undefined {
    const condition = formByRef(ref)
    if (!condition) return undefined
    const isAlias = revisionRef === liveAlias
    return this.#database.get(
      `SELECT ${columns ? `${columns}, ` : ''}revisionId, liveRevisionId, aiHandoff
       FROM (SELECT formId AS itsForm, liveRevisionId, aiHandoff FROM forms WHERE ${condition.sql})
       CROSS JOIN revisions ON revisionId = ${isAlias ? 'liveRevisionId' : '?'} AND formId = itsForm`,
      ...condition.values,
      ...(isAlias ? [] : [revisionRef.toLowerCase()]),
    )
  }

  /** Whether the form is there, without reading its draft. */
  #has({ organizationId, formId }: { organizationId: string; formId: string }): boolean {
    const sql = 'SELECT 1 FROM forms WHERE formId = ? AND organizationId = ?'
    return this.#database.get(sql, formId, organizationId) !== undefined
  }

  /** `OR FAIL` as with inserts, since the change of a draft has a trigger. */
  #set(formId: string, row: Row): void {
    const assignments = Object.keys(row).map((column) => `${column} = ?`)
    this.#database.run(
      `UPDATE OR FAIL forms SET ${assignments.join(', ')} WHERE formId = ?`,
      ...Object.values(row),
      formId,
    )
  }

  /** Makes a form, once nothing is left of one that had its id. */
  async #writeCleared<T>(formId: string, change: () => T): Promise<T> {
    for (;;) {
      const outcome = await this.#database.write(() =>
        isBeingCleared(this.#database, formId) ? writeConflict : change(),
      )
      if (outcome !== writeConflict) return outcome as T
      await clearForm(this.#database, formId)
    }
  }

  #usage(organizationId: string): Usage {
    const row = this.#database.get('SELECT forms, bytes FROM usage WHERE organizationId = ?', organizationId)
    return { forms: (row?.forms as number) ?? 0, bytes: (row?.bytes as number) ?? 0 }
  }

  #assertWithinQuota(organizationId: string, growth: Usage): void {
    assertWithinQuota(organizationId, this.#quota, this.#usage(organizationId), growth)
  }
}

/** What of `columns` is not in the row: SQLite writes every index of a column that it is told to set, changed or not. */
const differing = (columns: Row, row: Row): Row =>
  Object.fromEntries(Object.entries(columns).filter(([column, value]) => row[column] !== value))
