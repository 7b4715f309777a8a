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
}

export interface MongoList<T> {
  /** From the position on, without what is skipped, in order: at least `limit` and one more, where there are as many. */
  items: AsyncIterable<T>
  /** All that match, wherever the list begins. */
  count(): Promise<number>
}

/**
 * A list by keyset. What a filter asks beyond an engine's means is looked at here, document by document, within the
 * scope: such a filter reads all that the rest of it leaves.
 */
export const listMongodb = <T extends MongoDocument>(
  collection: MongoCollection<T>,
  { scope, filter, fields, foldedField, order, after, skip, limit }: MongoListQuery,
): MongoList<T> => {
  const { query, exact } = filter ? filterMongodb(filter, fields, foldedField) : { query: {}, exact: true }
  const matches = { ...scope, ...query }
  const rest = after ? { ...scope, $and: [query, afterMongoPosition(order, after)] } : matches
  const sort = mongoSort(order)
  if (!filter || exact) {
    return {
      items: collection.find(rest, { sort, skip, limit: limit + 1 }),
      count: () => collection.count(matches),
    }
  }
  const rowOf = (document: T): FilterRow =>
    Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, document[name]]))
  const passing = (documents: AsyncIterable<T>) =>
    only(documents, (document) => evaluateFilter(filter, rowOf(document)))
  return {
    items: behind(skip, passing(collection.find(rest, { sort }))),
    count: () => countOf(passing(collection.find(matches, { fields: Object.values(fields) }))),
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
