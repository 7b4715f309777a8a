import type { OrderTerm } from '@fms/aip'
import type { Rows, TableName } from './rows.ts'

/** A condition on a field: a value, one of several values, a time up to a given one, or null or a later time. */
export type Condition =
  | string
  | number
  | null
  | readonly string[]
  | { readonly atMost: number }
  | { readonly nullOrAfter: number }

/** Conditions by field. A row meets all of them. */
export type Conditions = Readonly<Record<string, Condition>>

export type Where<T extends TableName> = { readonly [Field in keyof Rows[T]]?: Condition }

export interface Query {
  table: TableName
  where: Conditions
  fields?: readonly string[] | undefined
  order: readonly OrderTerm[]
  limit?: number
}

/**
 * Code that reads rows: it yields queries and gets their rows. So the same code runs in a synchronous transaction of
 * SQLite and with the promises of MongoDB.
 */
export type Reading<R> = Generator<Query, R, object[]>

/** Reads all rows that meet the conditions. @param order names of fields, each ascending. */
export function* findAll<T extends TableName, Field extends keyof Rows[T] & string = keyof Rows[T] & string>(
  table: T,
  where: Where<T>,
  { order = [], fields }: { order?: readonly (keyof Rows[T] & string)[]; fields?: readonly Field[] } = {},
): Reading<Pick<Rows[T], Field>[]> {
  const terms = order.map((field) => ({ field, descending: false }))
  return (yield { table, where, fields, order: terms } as Query) as Pick<Rows[T], Field>[]
}

/** Reads a row by conditions that at most one row meets, or the last of several in the order of a field. */
export function* find<T extends TableName>(
  table: T,
  where: Where<T>,
  lastBy?: keyof Rows[T] & string,
): Reading<Rows[T] | undefined> {
  const order = lastBy === undefined ? [] : [{ field: lastBy, descending: true }]
  const [row] = yield { table, where, order, limit: 1 } as Query
  return row as Rows[T] | undefined
}

/** Runs a reading on an engine that responds at once. */
export const runReading = <R>(reading: Reading<R>, fetch: (query: Query) => object[]): R => {
  let step = reading.next()
  while (!step.done) step = reading.next(fetch(step.value))
  return step.value
}

/** Runs a reading on an engine that responds later. */
export const awaitReading = async <R>(
  reading: Reading<R>,
  fetch: (query: Query) => Promise<object[]>,
): Promise<R> => {
  let step = reading.next()
  while (!step.done) step = reading.next(await fetch(step.value))
  return step.value
}
