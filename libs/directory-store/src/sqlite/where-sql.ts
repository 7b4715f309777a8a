import { allOf, type SqlCondition } from '@fms/store-kit'
import type { Condition, Conditions } from '../tables/reading.ts'

/** The SQL of conditions on columns. @param prefix of the columns, such as `organizations.`. */
export const whereSql = (where: Conditions, prefix = ''): SqlCondition => {
  const conditions = Object.entries(where).map(([field, condition]) => columnSql(prefix + field, condition))
  return conditions.length > 0 ? allOf(...conditions) : { sql: 'TRUE', values: [] }
}

const columnSql = (column: string, condition: Condition): SqlCondition => {
  if (condition === null) return { sql: `${column} IS NULL`, values: [] }
  if (typeof condition !== 'object') return { sql: `${column} = ?`, values: [condition] }
  if ('atMost' in condition) return { sql: `${column} <= ?`, values: [condition.atMost] }
  if ('nullOrAfter' in condition) {
    return { sql: `${column} IS NULL OR ${column} > ?`, values: [condition.nullOrAfter] }
  }
  // As JSON, so that the SQL is the same for any number of values.
  return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(condition)] }
}
