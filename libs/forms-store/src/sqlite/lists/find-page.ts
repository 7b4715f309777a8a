import { type OrderTerm, type Position, positionOf } from '@fms/aip'
import {
  afterPosition,
  allOf,
  filterSql,
  orderSql,
  pageSql,
  type Row,
  type SqlCondition,
  type SqliteDatabase,
  unlessAborted,
} from '@fms/store-kit'
import type { ListFormsQuery, ListReport } from '../../forms-store.ts'
import { completeFormOrder, formFilterFields } from '../../lists/form-fields.ts'
import { readUsage } from '../usage.ts'
import { candidatesOf, ofOrganization, sourceOf } from './candidates.ts'
import { type PageBounds, smallPage } from './page-bounds.ts'

/** The forms of a page and the next one, and the number of matches. */
export interface FoundPage {
  /** Rowids, in order. */
  ids: number[]
  totalSize: number
}

/** Positions that a sort keeps in memory. A list that skips more sorts several times. */
const maxPositions = 10_000

/** Columns by the names that filters use. A unary plus hides a column from the planner: the candidates determine the index. */
const filterColumns = Object.fromEntries(
  Object.keys(formFilterFields.fields).map((field) => [field, `+${field}`]),
)

/** Finds a page, without its drafts; `large` when that may be beyond the bounds. */
export const findPage = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  bounds: PageBounds,
  report: ListReport,
): FoundPage | 'large' => {
  const order = completeFormOrder(query.orderBy)
  const count = countAll(database, query)
  if (!query.filter && isIndexed(order) && query.skip <= bounds.skipped) {
    report.plan = indexOf(order)
    const rows = query.skip < count ? readAlongIndex(database, query, order) : []
    return { ids: idsOf(rows), totalSize: count }
  }
  return findAmong(database, query, order, bounds, count, report)
}

/**
 * Reads the rows of an unfiltered page, and the next row, in one statement. `columns` include those of the order.
 * @returns undefined when no index has the order, or when forms are skipped, which a covering index does without rows.
 */
export const readRowsAlongIndex = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  columns: SqlCondition,
  report: ListReport,
): { rows: Row[]; totalSize: number } | undefined => {
  const order = completeFormOrder(query.orderBy)
  if (query.filter || !isIndexed(order) || query.skip > 0) return undefined
  report.plan = indexOf(order)
  return { rows: readAlongIndex(database, query, order, columns), totalSize: countAll(database, query) }
}

const countAll = (database: SqliteDatabase, { organizationId }: ListFormsQuery): number =>
  readUsage(database, organizationId).forms

/** Whether an index has the order, forwards or backwards. */
const isIndexed = (order: readonly OrderTerm[]): boolean =>
  order.length === 1 || (order.length === 2 && (!isMixed(order) || order[0]!.field === 'updateTime'))

const isMixed = ([first, second]: readonly OrderTerm[]): boolean =>
  second !== undefined && first!.descending !== second.descending

const indexOf = (order: readonly OrderTerm[]): string =>
  isMixed(order) ? 'forms_by_default' : `forms_by_${order[0]!.field}`

/** Index: forms_by_ and the first field of the order; forms_by_default for the default order. */
const readAlongIndex = (
  database: SqliteDatabase,
  { organizationId, after, limit, skip }: ListFormsQuery,
  order: readonly OrderTerm[],
  columns: SqlCondition = { sql: `rowid AS id, ${columnsOf(order)}`, values: [] },
): Row[] => {
  const abortable = skip > smallPage.skipped ? unlessAborted('id') : undefined
  const ranges = (after ? rangesAfter(order, after) : [undefined]).map((range) =>
    allOf({ sql: ofOrganization, values: [organizationId] }, range, abortable),
  )
  const selects = ranges.map(
    ({ sql }) => `SELECT ${columns.sql} FROM forms INDEXED BY ${indexOf(order)} WHERE ${sql}`,
  )
  return database.all(
    `${selects.join(' UNION ALL ')} ORDER BY ${orderSql(order)} ${pageSql}`,
    ...ranges.flatMap(({ values }) => [...columns.values, ...values]),
    limit + 1,
    skip,
  )
}

/** Ranges of the index after a position. Ties of opposite direction are a range of their own, which comes first. */
const rangesAfter = (order: readonly OrderTerm[], after: Position): SqlCondition[] => {
  if (!isMixed(order)) return [afterPosition(order, after)]
  const [first, second] = order as [OrderTerm, OrderTerm]
  const ties = { sql: `${first.field} = ?`, values: [after[0]!] }
  return [allOf(ties, afterPosition([second], [after[1]!])), afterPosition([first], [after[0]!])]
}

/** Sorts the matches of the filter among the fewest candidates that an index has. */
const findAmong = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  order: readonly OrderTerm[],
  bounds: PageBounds,
  count: number,
  report: ListReport,
): FoundPage | 'large' => {
  const { organizationId, filter, limit } = query
  const candidates = candidatesOf(database, query, bounds.scanned, count)
  if (!candidates) return 'large'
  report.plan = 'ids' in candidates ? 'formTrigrams' : `forms_by_${candidates.column}`
  const { table, within } = sourceOf(organizationId, candidates)
  const where = allOf(within, unlessAborted('id'), filter && filterSql(filter, filterColumns, '+foldedName'))
  const countMatches = () =>
    database.get(`SELECT count(*) AS total FROM ${table} WHERE ${where.sql}`, ...where.values)!
      .total as number

  const hidden = order.map(({ field, descending }) => ({ field: `+${field}`, descending }))
  const read = (after: Position | undefined, limit: number, skip: number): Row[] => {
    const { sql, values } = allOf(where, after && afterPosition(hidden, after))
    return database.all(
      `SELECT rowid AS id, ${columnsOf(order)} FROM ${table} WHERE ${sql} ORDER BY ${orderSql(hidden)} ${pageSql}`,
      ...values,
      limit,
      skip,
    )
  }

  let { after, skip } = query
  const isFirst = !after && skip === 0
  let totalSize = filter ? undefined : count
  if (!isFirst) totalSize ??= countMatches()
  if (totalSize !== undefined && skip >= totalSize) return { ids: [], totalSize }
  for (; skip > maxPositions; skip -= maxPositions) {
    const [last] = read(after, 1, maxPositions - 1)
    if (!last) return { ids: [], totalSize: totalSize! }
    after = positionOf(last as Record<string, string | number>, order)
  }
  const rows = read(after, limit + 1, skip)
  totalSize ??= rows.length <= limit ? rows.length : countMatches()
  return { ids: idsOf(rows), totalSize }
}

const columnsOf = (order: readonly OrderTerm[]): string => order.map(({ field }) => field).join(', ')

const idsOf = (rows: readonly Row[]): number[] => rows.map(({ id }) => id as number)
