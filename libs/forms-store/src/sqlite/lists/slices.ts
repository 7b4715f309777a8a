import { afterPosition, allOf, orderSql, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import { type Candidates, matchSql, type Range, rangeSql } from './candidates.ts'
import type { StepSize } from './steps.ts'

/** A part of the candidates, as SQL. */
export interface Slice {
  /** The FROM clause. */
  table: string
  /** The WHERE clause. */
  within: SqlCondition
  /** Approximate number of rows. */
  size: number
}

/** Splits candidates into slices of about `stepSize.rows` rows, read anew for each slice. */
export const slicesOf = (
  database: SqliteDatabase,
  organizationId: string,
  candidates: Candidates,
  stepSize: StepSize,
): Generator<Slice> =>
  candidates.kind === 'tokens'
    ? tokenSlices(database, organizationId, candidates.tokens, stepSize)
    : rangeSlices(database, organizationId, candidates, stepSize)

/** Slices between keys of the range's index; one slice for a small range of known size. */
function* rangeSlices(
  database: SqliteDatabase,
  organizationId: string,
  { count, ...range }: Range & { count?: number },
  stepSize: StepSize,
): Generator<Slice> {
  const table = `forms INDEXED BY forms_by_${range.column}`
  if (count !== undefined && count <= stepSize.rows)
    return yield { table, within: rangeSql(organizationId, range), size: count }
  const key = [...new Set([range.column, 'publicId'])].map((column) => ({ column, descending: false }))
  const columns = key.map(({ column }) => column)
  for (let after: (string | number)[] | undefined; ; ) {
    const { rows } = stepSize
    // The last key replaces the lower bound, because SQLite uses only one of two lower bounds.
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

/** Slices by rowid, the order of the trigram index. */
function* tokenSlices(
  database: SqliteDatabase,
  organizationId: string,
  tokens: readonly string[],
  stepSize: StepSize,
): Generator<Slice> {
  for (let after = 0; ; ) {
    const limit = stepSize.rows
    // FTS5 needs an integer to start from, and the driver binds numbers as doubles.
    const rows = database.all(
      'SELECT rowid AS id FROM formTrigrams WHERE formTrigrams MATCH ? AND rowid > CAST(? AS INTEGER) LIMIT ? + 0',
      matchSql(tokens),
      after,
      limit,
    )
    if (rows.length > 0) yield { table: 'forms', within: withRowids(organizationId, rows), size: rows.length }
    if (rows.length < limit) return
    after = rows.at(-1)!.id as number
  }
}

const withRowids = (organizationId: string, rows: { id?: unknown }[]): SqlCondition => ({
  sql: 'rowid IN (SELECT value FROM json_each(?)) AND +organizationId = ? AND +isDeleted = 0',
  values: [JSON.stringify(rows.map(({ id }) => id)), organizationId],
})
