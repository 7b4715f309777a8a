import { type FormRecord, isPublicId, isUuid, liveAlias } from '@fms/contracts'
import {
  afterPosition,
  allOf,
  filterSql,
  KeyedMutex,
  lostRace,
  orderSql,
  pageSql,
  type Row,
  raceDeadline,
  type SqlCondition,
  SqliteDatabase,
  type SqlOrderTerm,
  untilWon,
} from '@fms/store-kit'
import { ClearingLoop } from '../clearing-loop.ts'
import { updateAborted } from '../errors.ts'
import { completeOrder, type FormOrderField, type FormOrderTerm, positionOf } from '../form-order.ts'
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
  RevisionText,
  Snapshot,
  StoredForm,
  StoredRevision,
  Usage,
} from '../forms-store.ts'
import { demandQuota, noQuota } from '../quota.ts'
import { takeUpTo } from '../take-up-to.ts'
import { clearDeletions, clearForm, isBeingCleared, noteDeletion } from './clear-deletions.ts'
import { exportForms, importForm } from './move-forms.ts'
import { isOpposite, OppositeOrder } from './opposite-order.ts'
import {
  draftColumns,
  newFormColumns,
  revisionColumns,
  stateColumns,
  toFormState,
  toFormText,
  toStoredForm,
  toStoredRevision,
} from './rows.ts'
import { migrations } from './schema.ts'

/** The form that a reference names; undefined for one that can be no id. */
const named = ({ organizationId, formRef }: FormRef): SqlCondition | undefined => {
  if (isUuid(formRef))
    return { sql: 'formId = ? AND organizationId = ?', values: [formRef.toLowerCase(), organizationId] }
  if (isPublicId(formRef))
    return { sql: 'publicId = ? AND organizationId = ?', values: [formRef, organizationId] }
  return undefined
}

/** Columns of the forms that a filter may read. */
const filterColumns = {
  name: 'name',
  publicId: 'publicId',
  type: 'type',
  createTime: 'createTime',
  updateTime: 'updateTime',
} as const

/** What a list reads of a form: what it shows, and what it may be sorted by. */
const listColumns = `${stateColumns}, name, type, draft, aiHandoff`

/** So many forms are sorted faster than they are found in an index that is in order already. */
const fewForms = 1_000

/** What follows ORDER BY where no index shall serve it: a unary plus hides the column from the planner. */
const sortSql = (columns: readonly SqlOrderTerm[]): string =>
  orderSql(columns.map(({ column, descending }) => ({ column: `+${column}`, descending })))

/** Of a revision: what a deleted form left is invisible until it is cleared. */
const hasForm = 'EXISTS (SELECT 1 FROM forms WHERE forms.formId = revisions.formId)'

/** The embedded forms store: one SQLite file, shared by the processes of one machine. */
export class SqliteFormsStore implements FormsStore {
  readonly #database: SqliteDatabase
  /** The changes of a form, one after the other in this process. */
  readonly #formMutex = new KeyedMutex()
  readonly #quota: Quota
  readonly #clearing: ClearingLoop | undefined

  /** @param path a file, or `:memory:`. */
  constructor(path: string, { readOnly, quota = noQuota }: FormsStoreOptions = {}) {
    // What hangs on a form is cleared after it: docs/decisions/0016-deletes-in-two-parts.md.
    this.#database = new SqliteDatabase(path, migrations, { readOnly, foreignKeys: false })
    this.#quota = quota
    if (!readOnly) this.#clearing = new ClearingLoop((signal) => clearDeletions(this.#database, signal))
  }

  create(form: FormText): Promise<boolean> {
    const { organizationId, formId, draftJson } = form
    return this.#writeCleared(formId, () => {
      this.#demandQuota(organizationId, { forms: 1, bytes: Buffer.byteLength(draftJson) })
      return this.#database.insert('forms', newFormColumns(form), '(publicId)')
    })
  }

  /** Indexes: the unique ones of formId and publicId. */
  async get(ref: FormRef): Promise<StoredForm | undefined> {
    const row = this.#get(ref)
    return row && toStoredForm(row)
  }

  async getText(ref: FormRef): Promise<FormText | undefined> {
    return this.#getText(ref)
  }

  /** An unfiltered total reads usage. */
  async list(query: ListFormsQuery): Promise<FormsPage> {
    const order = completeOrder(query.orderBy)
    const filter = query.filter && filterSql(query.filter, filterColumns, 'foldedName')
    const matches = allOf({ sql: 'organizationId = ?', values: [query.organizationId] }, filter)
    // Of one state of the file, what is sorted and skipped is ids: drafts are read of the page's forms alone.
    return this.#database.snapshot(() => {
      const totalSize = filter ? this.#count(matches) : this.#usage(query.organizationId).forms
      const isFew = filter !== undefined && totalSize <= fewForms
      const ids = this.#ids(matches, isFew, order, { ...query, limit: query.limit + 1 })
      const rows = this.#rows(ids.slice(0, query.limit))
      const { taken } = takeUpTo(query.limit, rows, ({ draft }) => Buffer.byteLength(draft as string))
      const isLast = taken.length === ids.length
      const next = !isLast && positionOf(taken.at(-1) as Record<FormOrderField, string | number>, order)
      return { forms: taken.map(toFormText), ...(next && { next }), totalSize }
    })
  }

  update(
    ref: FormRef,
    change: (current: FormText) => FormText | Promise<FormText>,
  ): Promise<FormText | undefined> {
    return this.#changing(ref, async () => {
      const row = this.#get(ref)
      if (!row) return undefined
      const current = toFormText(row)
      const changed = await change(current)
      if (changed === current) return current
      return this.#database.write(() => this.#store(changed, row))
    })
  }

  async delete(ref: FormRef, check: (current: FormState) => void): Promise<boolean> {
    const condition = named(ref)
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
    snapshot: (current: FormText) => Snapshot | Promise<Snapshot>,
  ): Promise<FormText | 'elsewhere' | undefined> {
    return this.#changing(ref, async () => {
      const row = this.#get(ref)
      if (!row) return undefined
      const current = toFormText(row)
      const earlier = this.#revisionOfCommand(current.organizationId, commandId)
      if (earlier) return this.#publishAgain(ref, current, earlier)
      const taken = await snapshot(current)
      return this.#database.write(() => this.#publish(row, { ...taken, commandId }))
    })
  }

  /** One state of the file. Index: revisions_by_number. */
  async listRevisions({
    after,
    limit,
    skip,
    ...ref
  }: ListRevisionsQuery): Promise<RevisionsPage | undefined> {
    return this.#database.snapshot(() => {
      const form = this.#get(ref)
      if (!form) return undefined
      const rows = this.#database.iterate(
        `SELECT * FROM revisions WHERE formId = ? AND number < ? ORDER BY number DESC ${pageSql}`,
        form.formId!,
        after ?? Number.MAX_SAFE_INTEGER,
        limit + 1,
        skip,
      )
      const { taken, more } = takeUpTo(limit, rows, (row) => Buffer.byteLength(row.form as string))
      const revisions = taken.map((row) => liveOrNot(row, form))
      const counted = 'SELECT count(*) AS total FROM revisions WHERE formId = ?'
      return {
        revisions,
        ...(more && { next: revisions.at(-1)!.revision.number }),
        totalSize: this.#database.get(counted, form.formId!)?.total as number,
      }
    })
  }

  /** Index: the unique one of revisionId. */
  async getRevision(
    ref: FormRef,
    revisionRef: string,
  ): Promise<(LiveOrNot & { current: StoredForm }) | undefined> {
    const form = this.#get(ref)
    const revisionId = revisionRef === liveAlias ? form?.liveRevisionId : revisionRef.toLowerCase()
    if (!form || !revisionId) return undefined
    const row = this.#database.get(
      'SELECT * FROM revisions WHERE revisionId = ? AND formId = ?',
      revisionId,
      form.formId!,
    )
    return row && { ...liveOrNot(row, form), current: toStoredForm(form) }
  }

  async recordReply({
    organizationId,
    formId,
    replyId,
  }: {
    organizationId: string
    formId: string
    replyId: string
  }): Promise<boolean> {
    return this.#database.write(() => {
      if (!this.#has({ organizationId, formId })) return false
      const isNew = this.#database.run('INSERT OR IGNORE INTO replies VALUES (?, ?)', formId, replyId) === 1
      if (isNew) this.#database.run('UPDATE forms SET replyCount = replyCount + 1 WHERE formId = ?', formId)
      return isNew
    })
  }

  /** Index: the key of usage. */
  async usage(organizationId: string): Promise<Usage> {
    return this.#usage(organizationId)
  }

  async checkQuota(organizationId: string, growth: Usage): Promise<void> {
    this.#demandQuota(organizationId, growth)
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
    this.#database.get('SELECT 1')
  }

  async close(): Promise<void> {
    await this.#clearing?.close()
    await this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Part of a change: stores a form whose draft was changed, if it is still as it was read. */
  #store(changed: FormText, read: Row): FormText | undefined | typeof lostRace {
    const { formId } = changed
    const row = this.#state(formId)
    if (!row) return undefined
    if (row.version !== read.version) return lostRace
    const bytes = Buffer.byteLength(changed.draftJson) - Buffer.byteLength(read.draft as string)
    this.#demandQuota(changed.organizationId, { forms: 0, bytes })
    this.#set(formId, differing(draftColumns(changed), read))
    return { ...changed, replyCount: row.replyCount as number, live: row.liveRevisionId !== null }
  }

  /** Part of a change: stores a snapshot of the form as it was read, if it still is, and makes it live. */
  #publish(read: Row, snapshot: Snapshot & { commandId: string }): FormText | undefined | typeof lostRace {
    const { organizationId, formId, ...current } = toFormText(read)
    const row = this.#state(formId)
    if (!row) return undefined
    if (row.version !== read.version || row.revisionNumber !== read.revisionNumber) return lostRace
    this.#demandQuota(organizationId, { forms: 0, bytes: Buffer.byteLength(snapshot.formJson) })
    const number = (row.revisionNumber as number) + 1
    const revision = { ...snapshot, organizationId, formId, number }
    if (!this.#insertRevision(revision)) return lostRace
    this.#set(formId, { revisionNumber: number, liveNumber: number, liveRevisionId: revision.revisionId })
    return { ...current, organizationId, formId, live: true }
  }

  /** @returns false when the command has a revision that is not that of a deleted form. */
  #insertRevision(revision: RevisionText): boolean {
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
    current: FormText,
    earlier: Row,
  ): Promise<FormText | 'elsewhere' | undefined> {
    if (earlier.formId !== current.formId) return 'elsewhere'
    const { number, revisionId } = earlier
    await this.#database.write(() => {
      const sql = 'UPDATE forms SET liveNumber = ?, liveRevisionId = ? WHERE formId = ? AND liveNumber < ?'
      this.#database.run(sql, number!, revisionId!, current.formId, number!)
    })
    return this.#getText(ref)
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
  #changing<T>(ref: FormRef, attempt: () => Promise<T | typeof lostRace>): Promise<T> {
    const deadline = raceDeadline()
    return this.#formMutex.runExclusive(`${ref.organizationId}/${ref.formRef}`, () =>
      untilWon(attempt, () => updateAborted(ref), deadline),
    )
  }

  #get(ref: FormRef): Row | undefined {
    const condition = named(ref)
    return condition && this.#database.get(`SELECT * FROM forms WHERE ${condition.sql}`, ...condition.values)
  }

  #getText(ref: FormRef): FormText | undefined {
    const row = this.#get(ref)
    return row && toFormText(row)
  }

  /**
   * Index: forms_by_ and the first field of the order; further fields sort within equal values of the first. Where a
   * filter leaves few forms, the index that finds them serves better: they are sorted by themselves.
   */
  #ids(
    matches: SqlCondition,
    isFew: boolean,
    order: readonly FormOrderTerm[],
    { after, limit, skip }: Pick<ListFormsQuery, 'after' | 'limit' | 'skip'>,
  ): Row[] {
    const columns = order.map(({ field, descending }) => ({ column: field, descending }))
    if (!isFew && isOpposite(columns)) {
      return new OppositeOrder(this.#database, matches, columns).page(after, limit, skip)
    }
    // Of several bounds on a column, as a filter may have one, SQLite starts from the first.
    const { sql, values } = allOf(after && afterPosition(columns, after), matches)
    return this.#database.all(
      `SELECT rowid AS id FROM forms ${isFew ? '' : `INDEXED BY forms_by_${order[0]!.field}`} WHERE ${sql}
       ORDER BY ${isFew ? sortSql(columns) : orderSql(columns)} ${pageSql}`,
      ...values,
      limit,
      skip,
    )
  }

  /** One after the other, as they are asked for. */
  *#rows(ids: Row[]): Generator<Row> {
    const sql = `SELECT ${listColumns} FROM forms WHERE rowid = ?`
    for (const { id } of ids) yield this.#database.get(sql, id!)!
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

  #count({ sql, values }: SqlCondition): number {
    return this.#database.get(`SELECT count(*) AS total FROM forms WHERE ${sql}`, ...values)?.total as number
  }

  /** Makes a form, once nothing is left of one that had its id. */
  async #writeCleared<T>(formId: string, change: () => T): Promise<T> {
    for (;;) {
      const outcome = await this.#database.write(() =>
        isBeingCleared(this.#database, formId) ? lostRace : change(),
      )
      if (outcome !== lostRace) return outcome as T
      await clearForm(this.#database, formId)
    }
  }

  #usage(organizationId: string): Usage {
    const row = this.#database.get('SELECT forms, bytes FROM usage WHERE organizationId = ?', organizationId)
    return { forms: (row?.forms as number) ?? 0, bytes: (row?.bytes as number) ?? 0 }
  }

  #demandQuota(organizationId: string, growth: Usage): void {
    demandQuota(organizationId, this.#quota, this.#usage(organizationId), growth)
  }
}

/** What of `columns` is not in the row: SQLite writes every index of a column that it is told to set, changed or not. */
const differing = (columns: Row, row: Row): Row =>
  Object.fromEntries(Object.entries(columns).filter(([column, value]) => row[column] !== value))

const liveOrNot = (row: Row, form: Row): LiveOrNot => {
  const revision = toStoredRevision(row)
  return { revision, live: revision.revisionId === form.liveRevisionId }
}
