import { type CheckedFilter, evaluateFilter, type FilterRow } from '@fms/aip'
import type { Document } from 'mongodb'
import { filterMongodb } from './filter-mongodb.ts'
import type { MongoCollection, MongoDocument } from './mongodb-collection.ts'
import { afterMongoPosition, type MongoOrderTerm, mongoSort } from './mongodb-order.ts'

/** The options of {@link listMongodb}. */
export interface MongoListQuery {
  /** The values of the fields that every index begins with, such as the organization. */
  scope: Document
  filter?: CheckedFilter | undefined
  /** The document's field of each field of the filter. */
  fields: Readonly<Record<string, string>>
  /** The field that `search()` reads: text after `foldCase`. */
  foldedField?: string
  order: readonly MongoOrderTerm[]
  /** The values of the order's fields in the last document of the previous page. */
  after?: readonly (string | number)[] | undefined
  skip: number
  limit: number
  /** For orders of several fields: a covering index with all fields of orders and filters; `key` is a unique field. */
  covering?: { index: string; fields: readonly string[]; key: string }
  /** How long the engine may work on each read, in milliseconds; 5,000 by default. */
  timeoutMs?: number
  /** Called for each document; its error ends the list. */
  throwIfAborted?: () => void
}

/** A page, and the number of documents on all pages. */
export interface MongoList<T> {
  /** The documents after the position and after those to skip, in order: `limit + 1` or more, unless the list ends. */
  items: AsyncIterable<T>
  /** Counts all documents that match the filter, on all pages. */
  count(): Promise<number>
}

/**
 * Lists documents by keyset paging. Parts of a filter that the engine cannot evaluate are evaluated here, on all
 * documents that match the other parts. An order of several fields sorts the entries of the covering index only, and
 * then reads the documents of the page one by one.
 */
export const listMongodb = <T extends MongoDocument>(
  collection: MongoCollection<T>,
  { scope, filter, fields, foldedField, order, after, skip, limit, ...options }: MongoListQuery,
): MongoList<T> => {
  const { covering, timeoutMs, throwIfAborted = () => {} } = options
  const { query, exact } = filter ? filterMongodb(filter, fields, foldedField) : { query: {}, exact: true }
  const matches = { ...scope, ...query }
  const rest = after ? { ...scope, $and: [query, afterMongoPosition(order, after)] } : matches
  const isExact = !filter || exact
  const rowOf = (document: T): FilterRow =>
    Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, document[name]]))
  const passing = (documents: AsyncIterable<T>) =>
    filterItems(documents, (document) => {
      throwIfAborted()
      return isExact || evaluateFilter(filter, rowOf(document))
    })
  const sorted = { sort: mongoSort(order), ...(timeoutMs !== undefined && { timeoutMs }) }
  const page = isExact ? { skip, limit: limit + 1 } : {}
  const find = () => {
    if (!covering || order.length < 3) return passing(collection.find(rest, { ...sorted, ...page }))
    const { index, fields, key } = covering
    const entries = passing(collection.find(rest, { ...sorted, ...page, fields, coveredBy: index }))
    return readDocuments(entries, (entry) => collection.findOne({ ...scope, [key]: entry[key] }))
  }
  const count = () =>
    isExact
      ? collection.count(matches, timeoutMs)
      : countItems(passing(collection.find(matches, { fields: Object.values(fields), timeoutMs })))
  return { items: isExact ? find() : skipItems(skip, find()), count }
}

/** Reads the documents of index entries and leaves out those that were deleted meanwhile. */
async function* readDocuments<T>(
  entries: AsyncIterable<T>,
  read: (entry: T) => Promise<T | undefined>,
): AsyncGenerator<T> {
  for await (const entry of entries) {
    const document = await read(entry)
    if (document) yield document
  }
}

async function* filterItems<T>(items: AsyncIterable<T>, passes: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (passes(item)) yield item
}

async function* skipItems<T>(skip: number, items: AsyncIterable<T>): AsyncGenerator<T> {
  let remaining = skip
  for await (const item of items) if (remaining-- <= 0) yield item
}

const countItems = async (items: AsyncIterable<unknown>): Promise<number> => {
  let count = 0
  for await (const _ of items) count++
  return count
}
