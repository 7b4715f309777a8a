import { type CheckedFilter, evaluateFilter, type FilterRow } from '@fms/aip'
import type { Document } from 'mongodb'
import { filterMongodb } from './filter-mongodb.ts'
import type { MongoCollection, MongoDocument } from './mongodb-collection.ts'
import { afterMongoPosition, type MongoOrderTerm, mongoSort } from './mongodb-order.ts'

export interface MongoListQuery {
  /** Whose documents: the fields that every index begins with. */
  scope: Document
  filter?: CheckedFilter | undefined
  /** The document's field of each field of the filter. */
  fields: Readonly<Record<string, string>>
  /** Where the text that `search()` looks into stands, folded. */
  foldedField?: string
  order: readonly MongoOrderTerm[]
  after?: readonly (string | number)[] | undefined
  skip: number
  limit: number
  /** For orders of several fields: an index that has all fields of orders and filters, and what it is called. */
  covering?: { index: string; fields: readonly string[]; key: string }
  /** How long the engine may work on each read, in milliseconds. */
  timeoutMs?: number
  /** Throws, between two documents, to end the list. */
  demand?: () => void
}

export interface MongoList<T> {
  /** From the position on, without what is skipped, in order: at least `limit` and one more, where there are as many. */
  items: AsyncIterable<T>
  /** All that match, wherever the list begins. */
  count(): Promise<number>
}

/**
 * A list by keyset. What a filter asks beyond an engine's means is looked at here, document by document, within the
 * scope: such a filter reads all that the rest of it leaves. An order of several fields sorts entries of the covering
 * index alone, and reads the documents of the page one by one.
 */
export const listMongodb = <T extends MongoDocument>(
  collection: MongoCollection<T>,
  { scope, filter, fields, foldedField, order, after, skip, limit, ...options }: MongoListQuery,
): MongoList<T> => {
  const { covering, timeoutMs, demand = () => {} } = options
  const { query, exact } = filter ? filterMongodb(filter, fields, foldedField) : { query: {}, exact: true }
  const matches = { ...scope, ...query }
  const rest = after ? { ...scope, $and: [query, afterMongoPosition(order, after)] } : matches
  const isExact = !filter || exact
  const rowOf = (document: T): FilterRow =>
    Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, document[name]]))
  const passing = (documents: AsyncIterable<T>) =>
    only(documents, (document) => {
      demand()
      return isExact || evaluateFilter(filter, rowOf(document))
    })
  const sorted = { sort: mongoSort(order), ...(timeoutMs !== undefined && { timeoutMs }) }
  const page = isExact ? { skip, limit: limit + 1 } : {}
  const find = () => {
    if (!covering || order.length < 3) return passing(collection.find(rest, { ...sorted, ...page }))
    const { index, fields, key } = covering
    const entries = passing(collection.find(rest, { ...sorted, ...page, fields, coveredBy: index }))
    return whole(entries, (entry) => collection.findOne({ ...scope, [key]: entry[key] }))
  }
  const count = () =>
    isExact
      ? collection.count(matches, timeoutMs)
      : countOf(passing(collection.find(matches, { fields: Object.values(fields), timeoutMs })))
  return { items: isExact ? find() : behind(skip, find()), count }
}

/** The documents of entries; one that is gone is left out. */
async function* whole<T>(
  entries: AsyncIterable<T>,
  read: (entry: T) => Promise<T | undefined>,
): AsyncGenerator<T> {
  for await (const entry of entries) {
    const document = await read(entry)
    if (document) yield document
  }
}

async function* only<T>(items: AsyncIterable<T>, passes: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (passes(item)) yield item
}

async function* behind<T>(skip: number, items: AsyncIterable<T>): AsyncGenerator<T> {
  let left = skip
  for await (const item of items) if (left-- <= 0) yield item
}

const countOf = async (items: AsyncIterable<unknown>): Promise<number> => {
  let count = 0
  for await (const _ of items) count++
  return count
}
