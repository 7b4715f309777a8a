import type { CheckedFilter } from '@fms/aip'
import {
  afterPosition,
  allOf,
  filterSql,
  orderSql,
  pageSql,
  type Row,
  type SqlCondition,
  type SqliteDatabase,
  type SqlOrderTerm,
} from '@fms/store-kit'
import type { ListFormsQuery } from '../../forms-store.ts'
import { completeOrder, type FormPosition } from '../../lists/form-order.ts'
import { readUsage } from '../usage.ts'
import {
  bestCandidates,
  type Candidates,
  compareValues,
  everyForm,
  fewCandidates,
  ofOrganization,
} from './candidates.ts'
import { slicesOf } from './slices.ts'
import { StepSize, type Steps } from './steps.ts'

/** The forms of a page and the next one, and the number of matches. */
export interface FoundPage {
  /** Rowids, in order. */
  ids: number[]
  totalSize: number
}

/** Forms that one step checks: one to two milliseconds. */
export const fewForms = 500

/** Forms that one step skips along an index. */
const maxSkipped = 1_000

/** Positions in memory. A list that skips more is read several times. */
const maxPositions = 10_000

/** Limit of forms read by trigram: each is a separate lookup, which costs as much as twenty forms of a range scan. */
const maxByTokens = 3_000

/** Columns by the names that filters use. A unary plus hides a column from the planner: the slice determines the index. */
const filterColumns = {
  name: '+name',
  publicId: '+publicId',
  type: '+type',
  createTime: '+createTime',
  updateTime: '+updateTime',
} as const

/**
 * Finds a page, without its drafts, if that takes one to two milliseconds.
 *
 * @returns undefined when it may take longer.
 */
export const findSmallPage = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  few = fewForms,
): Steps<FoundPage> | undefined => {
  const order = orderColumns(query)
  if (!query.filter && isIndexed(order) && query.skip <= maxSkipped)
    return findAlongIndex(database, query, order)
  const count = countAll(database, query)
  if (count <= few) return findAmong(database, query, order, { ...everyForm, count })
  const candidates = fewCandidates(database, query, few)
  return candidates && findAmong(database, query, order, candidates)
}

/**
 * Reads the rows of an unfiltered page, and the next row, in one statement.
 *
 * @param columns to select, including those of the order.
 * @returns undefined when no index has the order, or when forms are skipped, which a covering index does without rows.
 */
export const readRowsAlongIndex = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  columns: SqlCondition,
): { rows: Row[]; totalSize: number } | undefined => {
  const order = orderColumns(query)
  const { after, limit, skip } = query
  if (query.filter || !isIndexed(order) || skip > 0) return undefined
  const rows = readAlongIndex(database, query, order, { after, limit: limit + 1, skip }, columns)
  return { rows, totalSize: countAll(database, query) }
}

/** Finds the page of any list, in steps. */
export const findPage = (database: SqliteDatabase, query: ListFormsQuery): Steps<FoundPage> => {
  const order = orderColumns(query)
  if (!query.filter && isIndexed(order)) return findAlongIndex(database, query, order)
  return findAmong(database, query, order, bestCandidates(database, query))
}

const orderColumns = ({ orderBy }: ListFormsQuery): SqlOrderTerm[] =>
  completeOrder(orderBy).map(({ field, descending }) => ({ column: field, descending }))

/** The number of the organization's forms. */
const countAll = (database: SqliteDatabase, { organizationId }: ListFormsQuery): number =>
  readUsage(database, organizationId).forms

/** Whether an index has the order, forwards or backwards. */
const isIndexed = (order: readonly SqlOrderTerm[]): boolean =>
  order.length === 1 || (order.length === 2 && (!isMixed(order) || order[0]!.column === 'updateTime'))

const isMixed = ([first, second]: readonly SqlOrderTerm[]): boolean =>
  second !== undefined && first!.descending !== second.descending

function* findAlongIndex(
  database: SqliteDatabase,
  query: ListFormsQuery,
  order: readonly SqlOrderTerm[],
): Steps<FoundPage> {
  const totalSize = countAll(database, query)
  let { after, skip } = query
  // A skip beyond the end finds nothing, below.
  while (skip > maxSkipped && skip < totalSize) {
    const [last] = readAlongIndex(database, query, order, { after, limit: 1, skip: maxSkipped - 1 })
    if (!last) return { ids: [], totalSize }
    after = positionOf(last, order)
    skip -= maxSkipped
    yield
  }
  if (skip >= totalSize) return { ids: [], totalSize }
  const rows = readAlongIndex(database, query, order, { after, limit: query.limit + 1, skip })
  return { ids: idsOf(rows), totalSize }
}

/** Index: forms_by_ and the first field of the order; forms_by_default for the default order. */
const readAlongIndex = (
  database: SqliteDatabase,
  { organizationId }: ListFormsQuery,
  order: readonly SqlOrderTerm[],
  { after, limit, skip }: { after: FormPosition | undefined; limit: number; skip: number },
  columns: SqlCondition = { sql: `rowid AS id, ${columnsOf(order)}`, values: [] },
): Row[] => {
  const index = isMixed(order) ? 'forms_by_default' : `forms_by_${order[0]!.column}`
  const ranges = (after ? rangesAfter(order, after) : [undefined]).map((range) =>
    allOf({ sql: ofOrganization, values: [organizationId] }, range),
  )
  const selects = ranges.map(({ sql }) => `SELECT ${columns.sql} FROM forms INDEXED BY ${index} WHERE ${sql}`)
  return database.all(
    `${selects.join(' UNION ALL ')} ORDER BY ${orderSql(order)} ${pageSql}`,
    ...ranges.flatMap(({ values }) => [...columns.values, ...values]),
    limit,
    skip,
  )
}

/** Ranges of the index after a position. Ties of opposite direction are a range of their own, which comes first. */
const rangesAfter = (order: readonly SqlOrderTerm[], after: FormPosition): SqlCondition[] => {
  if (!isMixed(order)) return [afterPosition(order, after)]
  const [first, second] = order as [SqlOrderTerm, SqlOrderTerm]
  const ties = { sql: `${first.column} = ?`, values: [after[0]!] }
  return [allOf(ties, afterPosition([second], [after[1]!])), afterPosition([first], [after[0]!])]
}

function* findAmong(
  database: SqliteDatabase,
  query: ListFormsQuery,
  order: readonly SqlOrderTerm[],
  candidates: Candidates,
): Steps<FoundPage> {
  let { after, skip } = query
  let totalSize = query.filter ? undefined : countAll(database, query)
  const maxRows = Math.max(maxPositions, query.limit + 1)
  let from = candidates
  for (;;) {
    const wanted = Math.min(skip + query.limit + 1, maxRows)
    const search = new Search(database, query, order, { after, wanted, counts: totalSize === undefined })
    const found = yield* search.among(from)
    if (!found) {
      from = everyForm
      continue
    }
    const { rows, matched } = found
    totalSize ??= matched
    if (rows.length < wanted || skip + query.limit < maxRows)
      return { ids: idsOf(rows.slice(skip, skip + query.limit + 1)), totalSize }
    if (skip >= totalSize) return { ids: [], totalSize }
    const passed = Math.min(skip, maxRows)
    after = passed === 0 ? after : positionOf(rows[passed - 1]!, order)
    skip -= passed
  }
}

interface SearchOptions {
  after: FormPosition | undefined
  /** Number of forms to find after the position. */
  wanted: number
  /** Whether to count all matches, including those before the position. */
  counts: boolean
}

/** Checks candidates against the filter and keeps the first `wanted` matches in order. */
class Search {
  readonly #database: SqliteDatabase
  readonly #organizationId: string
  readonly #filter: CheckedFilter | undefined
  readonly #order: readonly SqlOrderTerm[]
  readonly #options: SearchOptions
  #rows: Row[] = []
  #matched = 0

  constructor(
    database: SqliteDatabase,
    { organizationId, filter }: ListFormsQuery,
    order: readonly SqlOrderTerm[],
    options: SearchOptions,
  ) {
    this.#database = database
    this.#organizationId = organizationId
    this.#filter = filter
    this.#order = order
    this.#options = options
  }

  /** @returns undefined when the index has so many candidates that a scan of all forms is faster. */
  *among(candidates: Candidates): Steps<{ rows: Row[]; matched: number } | undefined> {
    const stepSize = new StepSize()
    let left = candidates.kind === 'tokens' ? maxByTokens : Number.POSITIVE_INFINITY
    for (const { table, within, size } of slicesOf(
      this.#database,
      this.#organizationId,
      candidates,
      stepSize,
    )) {
      left -= size
      if (left < 0) return undefined
      const begun = performance.now()
      this.#check(table, within)
      stepSize.adapt(performance.now() - begun)
      yield
    }
    return { rows: this.#rows, matched: this.#matched }
  }

  #check(table: string, within: SqlCondition): void {
    const { after, counts, wanted } = this.#options
    const filter = this.#filter && filterSql(this.#filter, filterColumns, '+foldedName')
    // An unbounded read returns all matches of the slice, unless there are more than wanted: no need to count first.
    const isUnbounded = !after && this.#rows.length < wanted
    const counted = counts && !isUnbounded ? this.#count(table, within, filter) : undefined
    if (counted === 0) return
    const rows = this.#read(table, within, filter)
    if (counts)
      this.#matched += counted ?? (rows.length < wanted ? rows.length : this.#count(table, within, filter))
    this.#rows = mergeSorted(wanted, this.#rows, rows, this.#order)
  }

  #count(table: string, within: SqlCondition, filter: SqlCondition | undefined): number {
    const { sql, values } = allOf(within, filter)
    const counted = this.#database.get(`SELECT count(*) AS total FROM ${table} WHERE ${sql}`, ...values)
    return counted?.total as number
  }

  /** The first matches after the position and before the last kept row. */
  #read(table: string, within: SqlCondition, filter: SqlCondition | undefined): Row[] {
    const { after, wanted } = this.#options
    const order = this.#order.map(({ column, descending }) => ({ column: `+${column}`, descending }))
    const reverse = order.map(({ column, descending }) => ({ column, descending: !descending }))
    const last = this.#rows.length === wanted ? this.#rows.at(-1) : undefined
    const { sql, values } = allOf(
      within,
      after && afterPosition(order, after),
      last && afterPosition(reverse, positionOf(last, this.#order)),
      filter,
    )
    return this.#database.all(
      `SELECT rowid AS id, ${columnsOf(this.#order)} FROM ${table} WHERE ${sql}
       ORDER BY ${orderSql(order)} ${pageSql}`,
      ...values,
      wanted,
      0,
    )
  }
}

const columnsOf = (order: readonly SqlOrderTerm[]): string => order.map(({ column }) => column).join(', ')

const idsOf = (rows: readonly Row[]): number[] => rows.map(({ id }) => id as number)

const positionOf = (row: Row, order: readonly SqlOrderTerm[]): FormPosition =>
  order.map(({ column }) => row[column] as string | number)

/** Merges two sorted lists, up to `limit` rows. */
const mergeSorted = (limit: number, one: Row[], other: Row[], order: readonly SqlOrderTerm[]): Row[] => {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one
  const merged: Row[] = []
  for (let left = 0, right = 0; merged.length < limit; ) {
    const [first, second] = [one[left], other[right]]
    if (!first && !second) break
    const takesFirst = !second || (first && compareRows(first, second, order) < 0)
    merged.push(takesFirst ? one[left++]! : other[right++]!)
  }
  return merged
}

const compareRows = (one: Row, other: Row, order: readonly SqlOrderTerm[]): number => {
  for (const { column, descending } of order) {
    const compared = compareValues(one[column] as string | number, other[column] as string | number)
    if (compared !== 0) return descending ? -compared : compared
  }
  return 0
}
