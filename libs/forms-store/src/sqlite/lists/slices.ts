import { afterPosition, allOf, orderSql, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import { type Candidates, matchSql, type Range, rangeSql } from './candidates.ts'
import { Pace } from './steps.ts'

/** Some of the candidates. */
export interface Slice {
  /** What follows FROM. */
  table: string
  /** What follows WHERE; undefined where the slice is empty. */
  within?: SqlCondition
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

/** From one key of the range's index to the next. */
function* rangeSlices(
  database: SqliteDatabase,
  organizationId: string,
  range: Range,
  pace: Pace,
): Generator<Slice> {
  const table = `forms INDEXED BY forms_by_${range.column}`
  const key = [...new Set([range.column, 'publicId'])].map((column) => ({ column, descending: false }))
  const columns = key.map(({ column }) => column)
  for (let after: (string | number)[] | undefined; ; ) {
    // A key behind the lower end takes its place, since SQLite starts from one of several bounds.
    const rest = allOf(
      rangeSql(organizationId, after ? { column: range.column, ...upperOf(range) } : range),
      after && afterPosition(key, after),
    )
    const last = database.get(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE ${rest.sql} ORDER BY ${orderSql(key)} LIMIT 1 OFFSET ?`,
      ...rest.values,
      pace.rows - 1,
    )
    if (!last) return yield { table, within: rest }
    const end = columns.map((column) => last[column] as string | number)
    const marks = columns.map(() => '?').join(', ')
    const upTo = { sql: `(${columns.join(', ')}) <= (${marks})`, values: end }
    const from = allOf(
      rangeSql(organizationId, { column: range.column, ...(after ? {} : lowerOf(range)) }),
      after && afterPosition(key, after),
    )
    yield { table, within: allOf(from, upTo) }
    after = end
  }
}

const lowerOf = ({ lower }: Range) => (lower === undefined ? {} : { lower })
const upperOf = ({ upper }: Range) => (upper === undefined ? {} : { upper })

/** Row numbers that one step goes through where several tokens are asked for: what they share may be far apart. */
const [firstWindow, maxWindow] = [10_000, 200_000]

/** By the forms' row numbers, in which the index of trigrams is in order. */
function* tokenSlices(
  database: SqliteDatabase,
  organizationId: string,
  tokens: readonly string[],
  pace: Pace,
): Generator<Slice> {
  const end = (database.get('SELECT max(rowid) AS id FROM forms')?.id ?? 0) as number
  const window = new Pace(firstWindow, maxWindow)
  for (let after = 0; after < end; ) {
    const begun = performance.now()
    const upTo = tokens.length === 1 ? end : Math.min(end, after + window.rows)
    const rows = database.all(
      'SELECT rowid AS id FROM formTrigrams WHERE formTrigrams MATCH ? AND rowid > ? AND rowid <= ? LIMIT ? + 0',
      matchSql(tokens),
      after,
      upTo,
      pace.rows,
    )
    window.took(performance.now() - begun)
    after = rows.length === pace.rows ? (rows.at(-1)!.id as number) : upTo
    yield { table: 'forms', ...(rows.length > 0 && { within: ofNumbers(organizationId, rows) }) }
  }
}

const ofNumbers = (organizationId: string, rows: { id?: unknown }[]): SqlCondition => ({
  sql: 'rowid IN (SELECT value FROM json_each(?)) AND +organizationId = ?',
  values: [JSON.stringify(rows.map(({ id }) => id)), organizationId],
})
