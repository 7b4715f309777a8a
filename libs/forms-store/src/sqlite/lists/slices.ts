import { afterPosition, allOf, orderSql, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import { type Candidates, matchSql, type Range, rangeSql } from './candidates.ts'
import type { Pace } from './steps.ts'

/** Some of the candidates. */
export interface Slice {
  /** What follows FROM. */
  table: string
  /** What follows WHERE. */
  within: SqlCondition
  /** About how many rows it has. */
  size: number
}

/** Candidates in slices of about as many rows as `pace` says when each is begun. */
export const slicesOf = (
  database: SqliteDatabase,
  organizationId: string,
  candidates: Candidates,
  pace: Pace,
): Generator<Slice> =>
  candidates.kind === 'tokens'
    ? tokenSlices(database, organizationId, candidates.tokens, pace)
    : rangeSlices(database, organizationId, candidates, pace)

/** From one key of the range's index to the next; all at once where they are known to be few. */
function* rangeSlices(
  database: SqliteDatabase,
  organizationId: string,
  { count, ...range }: Range & { count?: number },
  pace: Pace,
): Generator<Slice> {
  const table = `forms INDEXED BY forms_by_${range.column}`
  if (count !== undefined && count <= pace.rows)
    return yield { table, within: rangeSql(organizationId, range), size: count }
  const key = [...new Set([range.column, 'publicId'])].map((column) => ({ column, descending: false }))
  const columns = key.map(({ column }) => column)
  for (let after: (string | number)[] | undefined; ; ) {
    const { rows } = pace
    // A key behind the lower end takes its place, since SQLite starts from one of several bounds.
    const rest = allOf(
      rangeSql(organizationId, after ? { column: range.column, ...upperOf(range) } : range),
      after && afterPosition(key, after),
    )
    const last = database.get(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE ${rest.sql} ORDER BY ${orderSql(key)} LIMIT 1 OFFSET ?`,
      ...rest.values,
      rows - 1,
    )
    if (!last) return yield { table, within: rest, size: rows }
    const end = columns.map((column) => last[column] as string | number)
    const marks = columns.map(() => '?').join(', ')
    const upTo = { sql: `(${columns.join(', ')}) <= (${marks})`, values: end }
    const from = allOf(
      rangeSql(organizationId, { column: range.column, ...(after ? {} : lowerOf(range)) }),
      after && afterPosition(key, after),
    )
    yield { table, within: allOf(from, upTo), size: rows }
    after = end
  }
}

const lowerOf = ({ lower }: Range) => (lower === undefined ? {} : { lower })
const upperOf = ({ upper }: Range) => (upper === undefined ? {} : { upper })

/** By the forms' row numbers, in which the index of trigrams is in order. */
function* tokenSlices(
  database: SqliteDatabase,
  organizationId: string,
  tokens: readonly string[],
  pace: Pace,
): Generator<Slice> {
  for (let after = 0; ; ) {
    const limit = pace.rows
    // FTS5 starts from an integer alone, and the driver gives numbers as doubles.
    const rows = database.all(
      'SELECT rowid AS id FROM formTrigrams WHERE formTrigrams MATCH ? AND rowid > CAST(? AS INTEGER) LIMIT ? + 0',
      matchSql(tokens),
      after,
      limit,
    )
    if (rows.length > 0) yield { table: 'forms', within: ofNumbers(organizationId, rows), size: rows.length }
    if (rows.length < limit) return
    after = rows.at(-1)!.id as number
  }
}

const ofNumbers = (organizationId: string, rows: { id?: unknown }[]): SqlCondition => ({
  sql: 'rowid IN (SELECT value FROM json_each(?)) AND +organizationId = ?',
  values: [JSON.stringify(rows.map(({ id }) => id)), organizationId],
})
