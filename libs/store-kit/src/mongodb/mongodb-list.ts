import { type CheckedFilter, evaluateFilter, type FilterRow, type OrderTerm, positionOf } from '@fms/aip'
import type { Document } from 'mongodb'
import { filterMongodb } from './filter-mongodb.ts'
import type { MongoCollection, MongoDocument } from './mongodb-collection.ts'
import { mongoSort, rangesAfter } from './mongodb-order.ts'

export interface MongoListQuery {
  /** The values of the fields that every index begins with, such as the organization. */
  scope: Document
  filter?: CheckedFilter | undefined
  /** A condition that every match of the filter meets, for an index of the plan. */
  narrowing?: Document
  /** The fields of documents that the caller reads, including those of the filter and the order. Default: all. */
  documentFields?: readonly string[]
  /** The document's field of each field of the filter. */
  fields: Readonly<Record<string, string>>
  /** The field that `search()` reads: text after `foldCase`. */
  foldedField?: string
  order: readonly OrderTerm[]
  /** The values of the order's fields in the last document of the previous page. */
  after?: readonly (string | number)[] | undefined
  skip: number
  limit: number
  /** By default, the engine chooses indexes and reads documents in order. */
  plan?: MongoListPlan
  /** How long the engine may work on each read, in milliseconds; 5,000 by default. */
  timeoutMs?: number
  /** Called for each document; its error ends the list. */
  throwIfAborted?: () => void
}

export interface MongoListPlan {
  pageIndex: string
  /**
   * The engine reads and sorts only the fields of the order and the filter, and the page's documents are read by their
   * `_id` on this index afterwards. Without it, `pageIndex` has the order.
   */
  idIndex?: string
  countIndex: string
}

/** Documents that one request reads by their ids. Bounds the memory of a page of large documents. */
const documentsPerRequest = 32

/** A document, or the fields of an index entry. */
type Row = MongoDocument

/** A list of documents by keyset paging. */
export class MongoList<T extends MongoDocument> {
  readonly #collection: MongoCollection<T>
  readonly #list: MongoListQuery
  /** Undefined if nothing can match. */
  readonly #filter: Document | undefined

  constructor(collection: MongoCollection<T>, list: MongoListQuery) {
    const { filter, fields, foldedField } = list
    this.#collection = collection
    this.#list = list
    this.#filter = filter ? filterMongodb(filter, fields, foldedField) : {}
  }

  /** The documents after the position and after those to skip, in order: `limit + 1` or more, unless the list ends. */
  async *items(): AsyncGenerator<T> {
    const { skip, after } = this.#list
    if (!this.#filter) return
    for await (const batch of this.#batches(after, skip)) yield* await this.#documentsOf(batch)
  }

  /** Counts all documents that match the filter, on all pages. */
  async count(): Promise<number> {
    const { plan, timeoutMs } = this.#list
    if (!this.#filter) return 0
    return this.#collection.count(this.#within({}), { index: plan?.countIndex, timeoutMs })
  }

  /** The rows after a position, in order. A batch ends where the next row may need another request. */
  async *#batches(after: MongoListQuery['after'], skip: number): AsyncGenerator<Row[]> {
    const { order, limit } = this.#list
    const ranges = after ? rangesAfter(order, after) : [{}]
    let toSkip = skip
    let wanted = limit + 1
    for (const range of ranges) {
      this.#list.throwIfAborted?.()
      const skipped = range === ranges.at(-1) ? 0 : await this.#countUpTo(toSkip, range)
      if (skipped > 0) {
        toSkip -= skipped
        continue
      }
      let count = 0
      let last: Row | undefined
      for await (const batch of inBatches(this.#read(range, toSkip, wanted))) {
        count += batch.length
        last = batch.at(-1)
        yield batch
      }
      if (last && count === wanted) {
        // The caller still wants more: some documents were deleted after their entries were read.
        return yield* this.#batches(positionOf(last, order), 0)
      }
      wanted -= count
      if (count > 0) toSkip = 0
    }
  }

  /** The number of matches in a range; 0 if there are more than `skip`. */
  async #countUpTo(skip: number, range: Document): Promise<number> {
    if (skip === 0) return 0
    const { plan, timeoutMs } = this.#list
    const options = { index: plan?.pageIndex, limit: skip + 1, timeoutMs }
    const count = await this.#collection.count(this.#within(range), options)
    return count > skip ? 0 : count
  }

  /** The matching rows of a range, in order. */
  async *#read(range: Document, skip: number, limit: number): AsyncGenerator<Row> {
    const { order, fields, plan, timeoutMs, throwIfAborted } = this.#list
    const options = { sort: mongoSort(order), index: plan?.pageIndex, timeoutMs, skip, limit }
    const query = this.#within(range)
    const names = new Set(['_id', ...order.map(({ field }) => field), ...Object.values(fields)])
    const found = plan?.idIndex
      ? this.#collection.findFields(query, { ...options, fields: [...names] })
      : this.#collection.find(query, { ...options, ...this.#projection })
    for await (const row of found) {
      throwIfAborted?.()
      yield row
    }
  }

  /** The documents of rows, without those that have been deleted, have moved in the order or no longer match. */
  async #documentsOf(rows: Row[]): Promise<T[]> {
    const { scope, plan, order, filter, fields } = this.#list
    if (!plan?.idIndex) return rows as T[]
    const query = { ...scope, _id: { $in: rows.map(({ _id }) => _id) } }
    const documents = new Map<unknown, T>()
    const options = { ...this.#projection, index: plan.idIndex }
    for await (const document of this.#collection.find(query, options)) documents.set(document._id, document)
    return rows.flatMap((row) => {
      const document = documents.get(row._id)
      const isSame = document && order.every(({ field }) => document[field] === row[field])
      return isSame && (!filter || evaluateFilter(filter, rowOf(document, fields))) ? [document] : []
    })
  }

  get #projection(): { fields?: readonly string[] } {
    const { documentFields: fields } = this.#list
    return fields ? { fields } : {}
  }

  #within(range: Document): Document {
    const { scope, narrowing = {} } = this.#list
    const conditions = [narrowing, range, this.#filter!]
    const parts = [scope, ...conditions]
    const names = parts.flatMap(Object.keys)
    const isFlat = new Set(names).size === names.length
    return isFlat ? Object.assign({}, ...parts) : { ...scope, $and: conditions }
  }
}

const rowOf = (row: Row, fields: Readonly<Record<string, string>>): FilterRow =>
  Object.fromEntries(Object.entries(fields).map(([field, name]) => [field, row[name]]))

async function* inBatches(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let batch: Row[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < documentsPerRequest) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
