import { type CheckedFilter, compareCodePoints } from '@fms/aip'
import { endOfPrefix, type SqlCondition, type SqliteDatabase } from '@fms/store-kit'
import type { ListFormsQuery } from '../../forms-store.ts'
import { conjunctsOf, requiredTrigrams, spread } from '../../lists/name-trigrams.ts'
import { tokenOf } from './trigram-tokens.ts'

type Value = string | number

/** The forms of an organization whose column lies between two values, these included; an index leads to them. */
export interface Range {
  column: 'name' | 'publicId' | 'createTime' | 'updateTime'
  lower?: Value
  upper?: Value
}

/** Where the forms that a filter holds for are among: all others are none. */
export type Candidates =
  /** `count` forms, where they are counted. */
  | ({ kind: 'range'; count?: number } & Range)
  /** The forms whose names have all of these trigrams. */
  | { kind: 'tokens'; tokens: string[] }

/** The whole organization, in the index that has all that filters and orders read. */
export const everyForm = { kind: 'range', column: 'updateTime' } as const satisfies Candidates

/** Tokens that are looked up: more find little less, and each takes time. */
const maxTokens = 8

/** So few candidates are looked at sooner than a smaller set is found. */
const enough = 50

/**
 * A small set of candidates, where an index has one of at most `max` forms; undefined otherwise. Costs `max` rows of
 * each index at the most.
 */
export const fewCandidates = (
  database: SqliteDatabase,
  { organizationId, filter }: ListFormsQuery,
  max: number,
): Candidates | undefined => {
  if (!filter) return undefined
  let few: Candidates | undefined
  let fewest = max + 1
  for (const range of rangesOf(filter)) {
    const count = countOfRange(database, organizationId, range, fewest)
    if (count >= fewest) continue
    few = { kind: 'range', ...range, count }
    fewest = count
    if (fewest <= enough) return few
  }
  return fewByTokens(database, tokensOf(organizationId, filter), fewest) ?? few
}

/**
 * A token that fewer than `max` forms have, with another one unless it has at most `enough`. FTS5 moves the list of the
 * other forward to the forms of the first, and reads no row of `forms`. One in a thousand forms has a token by chance,
 * so that a third one would find little less.
 */
const fewByTokens = (database: SqliteDatabase, tokens: string[], max: number): Candidates | undefined => {
  for (const token of tokens) {
    const count = countOfToken(database, token, max)
    if (count >= max) continue
    // Those before it are frequent, and the next ones share characters with it.
    const other = count > enough ? tokens.findLast((each) => each !== token) : undefined
    return { kind: 'tokens', tokens: other === undefined ? [token] : [token, other] }
  }
  return undefined
}

/** Up to this many forms of one range are looked at one by one; all of an organization are read faster than more. */
const maxRange = 10_000

/** What a list reads that may take its time. */
export const bestCandidates = (database: SqliteDatabase, query: ListFormsQuery): Candidates => {
  const tokens = query.filter ? tokensOf(query.organizationId, query.filter) : []
  if (tokens.length > 0) return { kind: 'tokens', tokens }
  return fewCandidates(database, query, maxRange) ?? everyForm
}

/** What follows WHERE for a range. */
export const rangeSql = (organizationId: string, { column, lower, upper }: Range): SqlCondition => ({
  sql: `organizationId = ?${lower === undefined ? '' : ` AND ${column} >= ?`}${upper === undefined ? '' : ` AND ${column} <= ?`}`,
  values: [organizationId, lower, upper].filter((value) => value !== undefined),
})

/** What follows MATCH. */
export const matchSql = (tokens: readonly string[]): string =>
  tokens.map((token) => `"${token}"`).join(' AND ')

/** Forms that have the token, up to `max`. */
const countOfToken = (database: SqliteDatabase, token: string, max: number): number => {
  const sql = 'SELECT 1 FROM formTrigrams WHERE formTrigrams MATCH ? LIMIT ? + 0'
  return database.get(`SELECT count(*) AS total FROM (${sql})`, matchSql([token]), max)?.total as number
}

/** Forms of the range, up to `max`. */
const countOfRange = (
  database: SqliteDatabase,
  organizationId: string,
  range: Range,
  max: number,
): number => {
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

/** The range that a condition asks for; at its ends it may be one value too long. */
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

const indexed: readonly string[] = [
  'name',
  'publicId',
  'createTime',
  'updateTime',
] satisfies Range['column'][]
const isIndexed = (column: string): column is Range['column'] => indexed.includes(column)

const overlap = (one: Range, other: Range): Range => {
  const lowers = [one.lower, other.lower].filter((value) => value !== undefined).sort(compareValues)
  const uppers = [one.upper, other.upper].filter((value) => value !== undefined).sort(compareValues)
  return {
    column: one.column,
    ...(lowers.length > 0 && { lower: lowers.at(-1)! }),
    ...(uppers.length > 0 && { upper: uppers[0]! }),
  }
}

/** Of two values of one column. */
export const compareValues = (one: Value, other: Value): number =>
  typeof one === 'string' ? compareCodePoints(one, other as string) : one - (other as number)

const tokensOf = (organizationId: string, filter: CheckedFilter): string[] =>
  spread(requiredTrigrams(filter), maxTokens).map((trigram) => tokenOf(organizationId, trigram))
