import { type CheckedFilter, compareCodePoints } from '@fms/aip'
import { formOrderFields } from '@fms/contracts'
import { endOfPrefix, type Row, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import type { ListFormsQuery } from '../../forms-store.ts'
import { conjunctsOf, requiredTrigrams, spread } from '../../lists/name-trigrams.ts'
import { tokenOf } from './trigram-tokens.ts'

type Value = string | number

/** Forms of an organization with a column between two values, inclusive. Each of these columns has an index. */
export interface Range {
  column: string
  lower?: Value
  upper?: Value
}

/** A superset of a filter's matches: a range, or rowids as a JSON array. */
export type Candidates = Range | { ids: string }

/** The condition of every list. The indexes of lists have no deleted forms. */
export const ofOrganization = 'organizationId = ? AND isDeleted = 0'

/** All forms of the organization, by the index that covers filters and orders. */
const everyForm: Range = { column: 'updateTime' }

/** Tokens that a query looks up: more narrow it little further, and each takes time. */
const maxTokens = 8

/** A set this small needs no search for a smaller one. */
const enough = 50

/** The smallest set of candidates that an index has, if at most `max`. Reads up to `max` rows per index. */
const fewCandidates = (
  database: SqliteDatabase,
  { organizationId, filter }: ListFormsQuery,
  max: number,
): Candidates | undefined => {
  if (!filter) return undefined
  let few: Candidates | undefined
  let fewest = max + 1
  for (const range of rangesOf(filter)) {
    const count = countRange(database, organizationId, range, fewest)
    if (count >= fewest) continue
    few = range
    fewest = count
    if (fewest <= enough) return few
  }
  const tokens = tokensOf(organizationId, filter)
  return fewByTokens(database, tokens, Math.min(fewest, maxByTokens)) ?? few
}

/**
 * Forms with a token that fewer than `max` have, and with a second one unless `enough` or fewer have the first. FTS5
 * intersects the two without reading rows of `forms`. About one form in a thousand has a given token, so a third token
 * would narrow the result little further.
 */
const fewByTokens = (database: SqliteDatabase, tokens: string[], max: number): Candidates | undefined => {
  for (const token of tokens) {
    const count = countToken(database, token, max)
    if (count >= max) continue
    // The last token: the tokens before this one are frequent, and its neighbours share characters with it.
    const other = count > enough ? tokens.findLast((each) => each !== token) : undefined
    return toCandidates(findByTokens(database, other === undefined ? [token] : [token, other], max))
  }
  return undefined
}

/** A larger range is slower than a scan of all forms of the organization. */
const maxRange = 10_000

/** A larger set is slower, too: each of its forms is a separate lookup, which takes as long as twenty of a scan. */
const maxByTokens = 3_000

/** The forms that a list has to read, at most `max`; undefined when no index has few enough. */
export const candidatesOf = (
  database: SqliteDatabase,
  query: ListFormsQuery,
  max: number,
  count: number,
): Candidates | undefined => {
  if (max > maxRange) return bestCandidates(database, query)
  return count <= max ? everyForm : fewCandidates(database, query, max)
}

const bestCandidates = (database: SqliteDatabase, query: ListFormsQuery): Candidates => {
  const tokens = query.filter ? tokensOf(query.organizationId, query.filter) : []
  if (tokens.length > 0) {
    const found = findByTokens(database, tokens, maxByTokens)
    if (found.length < maxByTokens) return toCandidates(found)
  }
  return fewCandidates(database, query, maxRange) ?? everyForm
}

export const sourceOf = (organizationId: string, candidates: Candidates) =>
  'ids' in candidates
    ? {
        table: 'forms',
        within: {
          sql: 'rowid IN (SELECT value FROM json_each(?)) AND +organizationId = ? AND +isDeleted = 0',
          values: [candidates.ids, organizationId],
        },
      }
    : {
        table: `forms INDEXED BY forms_by_${candidates.column}`,
        within: rangeSql(organizationId, candidates),
      }

/** The WHERE clause of a range, as the indexes of lists have it. */
const rangeSql = (organizationId: string, { column, lower, upper }: Range): SqlCondition => ({
  sql: `${ofOrganization}${lower === undefined ? '' : ` AND ${column} >= ?`}${upper === undefined ? '' : ` AND ${column} <= ?`}`,
  values: [organizationId, lower, upper].filter((value) => value !== undefined),
})

/** The rowids of up to `max` forms with all tokens, deleted ones included. */
const findByTokens = (database: SqliteDatabase, tokens: readonly string[], max: number): Row[] =>
  database.all(
    'SELECT rowid AS id FROM formTrigrams WHERE formTrigrams MATCH ? LIMIT ? + 0',
    matchSql(tokens),
    max,
  )

/** The number of forms with the token, deleted ones included, up to `max`. */
const countToken = (database: SqliteDatabase, token: string, max: number): number => {
  const sql = 'SELECT 1 FROM formTrigrams WHERE formTrigrams MATCH ? LIMIT ? + 0'
  return database.get(`SELECT count(*) AS total FROM (${sql})`, matchSql([token]), max)?.total as number
}

const matchSql = (tokens: readonly string[]): string => tokens.map((token) => `"${token}"`).join(' AND ')

const toCandidates = (rows: Row[]): Candidates => ({ ids: JSON.stringify(rows.map(({ id }) => id)) })

const countRange = (database: SqliteDatabase, organizationId: string, range: Range, max: number): number => {
  const { sql, values } = rangeSql(organizationId, range)
  const rows = `SELECT 1 FROM forms INDEXED BY forms_by_${range.column} WHERE ${sql} LIMIT ? + 0`
  return database.get(`SELECT count(*) AS total FROM (${rows})`, ...values, max)?.total as number
}

const rangesOf = (filter: CheckedFilter): Range[] => {
  const ranges = conjunctsOf(filter)
    .map(rangeOf)
    .filter((range) => range !== undefined)
  return [...Map.groupBy(ranges, ({ column }) => column).values()].map((some) => some.reduce(overlap))
}

/** The range of a condition. Bounds are inclusive also for `<` and `>`; the filter excludes the extra value. */
const rangeOf = (node: CheckedFilter): Range | undefined => {
  if (node.kind === 'compareTime') return rangeOfOrder(node.field, node.operator, node.epochMs)
  if (node.kind === 'compare') return rangeOfOrder(node.field, node.operator, node.value)
  if (node.kind !== 'match') return undefined
  const [prefix] = node.parts
  if (!prefix || !isIndexed(node.field)) return undefined
  const upper = endOfPrefix(prefix)
  return { column: node.field, lower: prefix, ...(upper !== undefined && { upper }) }
}

const rangeOfOrder = (column: string, operator: string, value: Value): Range | undefined => {
  if (!isIndexed(column)) return undefined
  return {
    column,
    ...(!operator.startsWith('<') && { lower: value }),
    ...(!operator.startsWith('>') && { upper: value }),
  }
}

const isIndexed = (column: string): boolean => (formOrderFields as readonly string[]).includes(column)

const overlap = (one: Range, other: Range): Range => {
  const lowers = [one.lower, other.lower].filter((value) => value !== undefined).sort(compareValues)
  const uppers = [one.upper, other.upper].filter((value) => value !== undefined).sort(compareValues)
  return {
    column: one.column,
    ...(lowers.length > 0 && { lower: lowers.at(-1)! }),
    ...(uppers.length > 0 && { upper: uppers[0]! }),
  }
}

const compareValues = (one: Value, other: Value): number =>
  typeof one === 'string' ? compareCodePoints(one, other as string) : one - (other as number)

const tokensOf = (organizationId: string, filter: CheckedFilter): string[] =>
  spread(requiredTrigrams(filter), maxTokens).map((trigram) => tokenOf(organizationId, trigram))
