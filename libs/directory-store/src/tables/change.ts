import type { Conditions, Reading, Where } from './reading.ts'
import type { Rows, TableName } from './rows.ts'

export type Write =
  | { kind: 'insert'; table: TableName; row: object }
  | { kind: 'update'; table: TableName; where: Conditions; fields: object }
  | { kind: 'delete'; table: TableName; where: Conditions }
  | { kind: 'lock'; table: TableName; where: Conditions }

export interface Decision<R> {
  result: R
  writes: Write[]
}

/**
 * A rule of the directory: decides from what it reads what is written, or throws an {@link ApiError} and nothing is. The
 * tables make it atomic. It may run several times, and checks itself what has to be unique.
 */
export type Change<R> = Reading<Decision<R>>

export const insert = <T extends TableName>(table: T, row: Rows[T]): Write => ({ kind: 'insert', table, row })

/** Sets fields of rows; nothing to write without fields. */
export const update = <T extends TableName>(table: T, where: Where<T>, fields: Partial<Rows[T]>): Write[] =>
  Object.keys(fields).length > 0 ? [{ kind: 'update', table, where: where as Conditions, fields }] : []

export const remove = <T extends TableName>(table: T, where: Where<T>): Write => ({
  kind: 'delete',
  table,
  where: where as Conditions,
})

/**
 * Excludes other changes that write or lock the same row. For a change that depends on rows that it does not write, such
 * as the number of a user's keys: MongoDB detects only conflicts of writes to the same document.
 */
export const lock = <T extends TableName>(table: T, where: Where<T>): Write => ({
  kind: 'lock',
  table,
  where: where as Conditions,
})
