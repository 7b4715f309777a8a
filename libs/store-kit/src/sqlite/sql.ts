import type { SQLInputValue } from 'node:sqlite'
import type { OrderTerm } from '@fms/aip'

/** A condition and the values of its parameters (`?`), in their order. */
export interface SqlCondition {
  sql: string
  values: SQLInputValue[]
}

/** Joins conditions with AND and skips undefined ones. At least one has to be defined. */
export const allOf = (...conditions: (SqlCondition | undefined)[]): SqlCondition => {
  const defined = conditions.filter((condition) => condition !== undefined)
  return {
    sql: defined.map(({ sql }) => `(${sql})`).join(' AND '),
    values: defined.flatMap(({ values }) => values),
  }
}

/**
 * A condition that every row meets, for long reads: every 16th row runs the check of {@link SqliteDatabase.snapshot},
 * since a call takes as long as the scan of a row. Every index entry contains the `rowid`.
 */
export const unlessAborted = (rowid: string): SqlCondition => ({
  sql: `(${rowid} & 15 OR notAborted())`,
  values: [],
})

/** The terms of an ORDER BY clause. @param order its fields are columns. */
export const orderSql = (order: readonly OrderTerm[]): string =>
  order.map(({ field, descending }) => (descending ? `${field} DESC` : field)).join(', ')

/** The LIMIT and OFFSET of a page. Without `+ 0`, SQLite prepares the statement again for each value of the limit. */
export const pageSql = 'LIMIT ? + 0 OFFSET ?'

/**
 * A condition for the rows after a position in an order (keyset paging). The columns have no NULL; the last is unique.
 *
 *     after(a, …) = a past value, or a equal to value and after(…)
 *
 * Columns of one direction are compared as a row value (sqlite.org/rowvalue.html), so an index scan starts exactly at
 * the position. For mixed directions there is also a bound on the first column, where an index scan can start.
 */
export const afterPosition = (
  order: readonly OrderTerm[],
  position: readonly SQLInputValue[],
): SqlCondition => {
  const [{ field: column, descending }, ...rest] = order as [OrderTerm, ...OrderTerm[]]
  const past = descending ? '<' : '>'
  if (rest.every((term) => term.descending === descending)) {
    const columns = order.map((term) => term.field)
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
