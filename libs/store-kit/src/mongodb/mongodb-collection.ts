import type { AbstractCursor, Collection, Document, FindOptions, Sort } from 'mongodb'
import { isDuplicateKey, isDuplicateKeysOnly } from './mongodb-errors.ts'

/** A document of any collection. */
export type MongoDocument = Document & { _id?: unknown }

/** The options of a read. */
export interface FindQuery {
  sort?: Sort
  skip?: number
  limit?: number | undefined
  /** The fields to read. A hint that saves bytes: an engine may return the whole document. */
  fields?: readonly string[]
  /** The name of the index to use; by default the engine chooses. */
  index?: string | undefined
  /** How long the engine may work on the query, in milliseconds; 5,000 by default. */
  timeoutMs?: number | undefined
}

/** The options of a count. */
export type CountQuery = Pick<FindQuery, 'index' | 'limit' | 'timeoutMs'>

/** How long the engine may work on a read, in milliseconds. */
const defaultTimeoutMs = 5_000

/** Called before each write, so that a test can fail it or change the store there. */
export type BeforeWrite = (write: { collection: string; operation: string }) => void | Promise<void>

/** Sends a request to the engine and translates the driver's errors. */
export type RunRequest = <R>(request: () => Promise<R>) => Promise<R>

/**
 * The operations of a collection that every supported engine has. A change affects one document, or deletes many; there
 * are no transactions.
 */
export class MongoCollection<T extends MongoDocument> {
  readonly #collection: Collection<Document>
  readonly #run: RunRequest
  readonly #beforeWrite: BeforeWrite | undefined

  constructor(collection: Collection<Document>, run: RunRequest, beforeWrite?: BeforeWrite) {
    this.#collection = collection
    this.#run = run
    this.#beforeWrite = beforeWrite
  }

  async findOne(query: Document, fields?: readonly string[]): Promise<T | undefined> {
    const found = await this.#run(() => this.#collection.findOne(query, toOptions({ fields })))
    return (found as T | null) ?? undefined
  }

  async has(query: Document): Promise<boolean> {
    return (await this.findOne(query, ['_id'])) !== undefined
  }

  /** Finds documents and reads them in batches while they are iterated. */
  async *find(query: Document, options: FindQuery = {}): AsyncGenerator<T> {
    yield* this.#iterate(this.#collection.find(query, toOptions(options)))
  }

  async *#iterate(cursor: AbstractCursor<Document>): AsyncGenerator<T> {
    const next = () => this.#run(() => cursor.next())
    try {
      for (let found = await next(); found; found = await next()) yield found as unknown as T
    } finally {
      await cursor.close().catch(() => {})
    }
  }

  /**
   * Reads only `fields` of the matching documents. Unlike `find`, the engine sorts these fields rather than documents, and
   * reads no document where `index` has all fields of the query too. Results have no `_id` unless `fields` has it.
   */
  async *findFields(query: Document, options: FindQuery & { fields: readonly string[] }): AsyncGenerator<T> {
    const cursor = this.#collection.aggregate(toPipeline(query, options), {
      maxTimeMS: options.timeoutMs ?? defaultTimeoutMs,
      ...(options.index && { hint: options.index }),
    })
    yield* this.#iterate(cursor)
  }

  /** Counts the matching documents, at most `limit`. */
  count(query: Document, { index, limit, timeoutMs = defaultTimeoutMs }: CountQuery = {}): Promise<number> {
    const options = { maxTimeMS: timeoutMs, ...(limit && { limit }), ...(index && { hint: index }) }
    return this.#run(() => this.#collection.countDocuments(query, options))
  }

  /** Inserts a document. @returns false when a unique index rejects it. */
  async insert(document: T): Promise<boolean> {
    try {
      await this.#write('insert', () => this.#collection.insertOne(document as Document))
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  /** Inserts documents and skips those that a unique index rejects. Unordered and not atomic. */
  async insertMissing(documents: readonly T[]): Promise<void> {
    if (documents.length === 0) return
    try {
      await this.#write('insert', () =>
        this.#collection.insertMany(documents as readonly Document[], { ordered: false }),
      )
    } catch (error) {
      if (!isDuplicateKeysOnly(error)) throw error
    }
  }

  /** Sets fields of one document. @returns whether one matched. */
  async set(query: Document, fields: Partial<T>): Promise<boolean> {
    const { matchedCount } = await this.#write('set', () =>
      this.#collection.updateOne(query, { $set: fields }),
    )
    return matchedCount === 1
  }

  /** Sets fields of one document. @returns the changed document, or undefined when none matched. */
  async setAndGet(query: Document, fields: Partial<T>): Promise<T | undefined> {
    const changed = await this.#write('set', () =>
      this.#collection.findOneAndUpdate(query, { $set: fields }, { returnDocument: 'after' }),
    )
    return (changed as T | null) ?? undefined
  }

  /** Deletes one document. @returns whether one matched. */
  async deleteOne(query: Document): Promise<boolean> {
    const { deletedCount } = await this.#write('delete', () => this.#collection.deleteOne(query))
    return deletedCount === 1
  }

  /** Deletes all matching documents, not atomically. @returns how many were deleted. */
  async deleteMany(query: Document): Promise<number> {
    const { deletedCount } = await this.#write('delete', () => this.#collection.deleteMany(query))
    return deletedCount
  }

  /**
   * Increments numbers of one document, and sets and removes fields by their dotted names. Only the primary acknowledges
   * it, before the journal, so use it for counts that can be recomputed.
   *
   * @returns whether one matched.
   */
  async increment(
    query: Document,
    amounts: Readonly<Record<string, number>>,
    { set, unset = [] }: { set?: Document; unset?: readonly string[] } = {},
  ): Promise<boolean> {
    const update = {
      $inc: amounts,
      ...(set && Object.keys(set).length > 0 && { $set: set }),
      ...(unset.length > 0 && { $unset: Object.fromEntries(unset.map((name) => [name, ''])) }),
    }
    const { matchedCount } = await this.#write('increment', () =>
      this.#collection.updateOne(query, update, { writeConcern: { w: 1 } }),
    )
    return matchedCount === 1
  }

  /** Counts the matching documents and sums a field of them; a missing field counts as 0. */
  async sum(query: Document, field: string): Promise<{ count: number; sum: number }> {
    const group = { _id: null, count: { $sum: 1 }, sum: { $sum: `$${field}` } }
    const [found] = await this.#run(() =>
      this.#collection.aggregate([{ $match: query }, { $group: group }]).toArray(),
    )
    return { count: found?.count ?? 0, sum: found?.sum ?? 0 }
  }

  #write<R>(operation: string, request: () => Promise<R>): Promise<R> {
    return this.#run(async () => {
      await this.#beforeWrite?.({ collection: this.#collection.collectionName, operation })
      return request()
    })
  }
}

const toOptions = ({ sort, skip, limit, fields, index, timeoutMs }: FindQuery): FindOptions => ({
  maxTimeMS: timeoutMs ?? defaultTimeoutMs,
  ...(index && { hint: index }),
  ...(sort && { sort }),
  ...(skip && { skip }),
  ...(limit && { limit }),
  ...(fields && { projection: toProjection(fields) }),
})

/** The projection stands before the sort, so that no stage holds whole documents. */
const toPipeline = (query: Document, { fields, sort, skip, limit }: FindQuery): Document[] => [
  { $match: query },
  { $project: { _id: 0, ...toProjection(fields ?? []) } },
  ...(sort ? [{ $sort: sort }] : []),
  ...(skip ? [{ $skip: skip }] : []),
  ...(limit ? [{ $limit: limit }] : []),
]

const toProjection = (fields: readonly string[]): Document =>
  Object.fromEntries(fields.map((field) => [field, 1]))
