import type { SQLInputValue } from 'node:sqlite'

/** A condition and the values of its question marks, in their order. */
export interface SqlCondition {
  sql: string
  values: SQLInputValue[]
}

export interface SqlOrderTerm {
  column: string
  descending: boolean
}

/** All of the conditions; those that are undefined ask for nothing. At least one is given. */
export const allOf = (...conditions: (SqlCondition | undefined)[]): SqlCondition => {
  const given = conditions.filter((condition) => condition !== undefined)
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND '),
    values: given.flatMap(({ values }) => values),
  }
}

/** What follows ORDER BY. */
export const orderSql = (order: readonly SqlOrderTerm[]): string =>
  order.map(({ column, descending }) => (descending ? `${column} DESC` : column)).join(', ')

/**
 * What follows the order of a page, with marks for its size and for what it skips. SQLite plans by the value of a mark
 * that stands alone after LIMIT, and so prepares the statement anew whenever that is bound.
 */
export const pageSql = 'LIMIT ? + 0 OFFSET ?'

/**
 * The rows that come after a position in an order (keyset paging); the columns hold no NULL.
 *
 *     after(a, …) = a past value, or a equal to value and after(…)
 *
 * Columns that go the same way are compared at once, so that an index starts right at the position
 * (sqlite.org/rowvalue.html). Where they do not, the bound on the first one stands alone as well, for an index to start
 * from.
 *
 * @param order its last column tells apart what is equal in all others.
 * @param position the values of the order's columns in the last row that was read.
 */
export const afterPosition = (
  order: readonly SqlOrderTerm[],
  position: readonly SQLInputValue[],
): SqlCondition => {
  const [{ column, descending }, ...rest] = order as [SqlOrderTerm, ...SqlOrderTerm[]]
  const past = descending ? '<' : '>'
  if (rest.every((term) => term.descending === descending)) {
    const columns = order.map((term) => term.column)
    const marks = order.map(() => '?')
    return { sql: `(${columns.join(', ')}) ${past} (${marks.join(', ')})`, values: [...position] }
  }
  const [value, ...restOfPosition] = position as [SQLInputValue, ...SQLInputValue[]]
  const tie = afterPosition(rest, restOfPosition)
  return {
    sql: `${column} ${past}= ? AND (${column} ${past} ? OR (${tie.sql}))`,
    values: [value, value, ...tie.values],
  }
}
