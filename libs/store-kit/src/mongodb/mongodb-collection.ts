import type { AbstractCursor, Collection, Document, FindOptions, Sort } from 'mongodb'
import { isDuplicateKey } from './mongodb-errors.ts'
import { engineTimeoutMs, requestTimeoutMs } from './mongodb-timeouts.ts'

export type MongoDocument = Document & { _id?: unknown }

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

/** Sends a request and translates the driver's errors. @param timeoutMs how long the caller waits. */
export type RunRequest = <R>(request: () => Promise<R>, timeoutMs: number) => Promise<R>

const durable = { readConcern: { level: 'majority' } } as const

/**
 * The operations of a collection outside of transactions. A change affects one document, or deletes many.
 *
 * A write returns once a majority has journaled it and every earlier change of what it found, even if it matches nothing or
 * a unique index rejects it (SERVER-18522, SERVER-34369). Reads return the state of the primary, which a failover may roll
 * back, except for `findDurable` and snapshots. Every request has a time limit.
 */
export class MongoCollection<T extends MongoDocument> {
  readonly #collection: Collection<Document>
  readonly #run: RunRequest
  readonly #timeoutMs: number
  readonly #writeOptions: { maxTimeMS: number }

  /** @param timeoutMs how long the engine may work on a request that has no limit of its own, in milliseconds. */
  constructor(collection: Collection<Document>, run: RunRequest, timeoutMs = engineTimeoutMs) {
    this.#collection = collection
    this.#run = run
    this.#timeoutMs = timeoutMs
    this.#writeOptions = { maxTimeMS: timeoutMs }
  }

  async findOne(
    query: Document,
    fields?: readonly string[],
    timeoutMs = this.#timeoutMs,
  ): Promise<T | undefined> {
    const read = () => this.#collection.findOne(query, toOptions({ fields, timeoutMs }))
    const found = await this.#run(read, requestTimeoutMs(timeoutMs))
    return (found as T | null) ?? undefined
  }

  async has(query: Document): Promise<boolean> {
    return (await this.findOne(query, ['_id'])) !== undefined
  }

  async *find(query: Document, options: FindQuery = {}): AsyncGenerator<T> {
    const { timeoutMs = this.#timeoutMs } = options
    yield* this.#iterate(this.#collection.find(query, toOptions({ ...options, timeoutMs })), timeoutMs)
  }

  /** Reads what a majority has journaled, which no failover rolls back. Lacks changes that wait for a majority. */
  findDurable(query: Document, options: FindQuery = {}): Promise<T[]> {
    const { timeoutMs = this.#timeoutMs } = options
    const cursor = this.#collection.find(query, { ...toOptions({ ...options, timeoutMs }), ...durable })
    return Array.fromAsync(this.#iterate(cursor, timeoutMs))
  }

  async *#iterate(cursor: AbstractCursor<Document>, timeoutMs: number): AsyncGenerator<T> {
    const next = () => this.#run(() => cursor.next(), requestTimeoutMs(timeoutMs))
    try {
      for (let found = await next(); found; found = await next()) {
        yield found as unknown as T
        // The rest of the batch needs no request. Reads one at a time, because each is decoded when it is read.
        while (cursor.bufferedCount() > 0) yield* cursor.readBufferedDocuments(1) as unknown as T[]
      }
    } finally {
      // Not awaited: where the engine does not respond, it would take as long as the socket's timeout.
      void cursor.close().catch(() => {})
    }
  }

  /**
   * Reads only `fields`. Unlike for `find`, the engine sorts these fields and not whole documents, and reads no document
   * if `index` has `fields` and all fields of the query. Results have no `_id` unless `fields` has it.
   */
  async *findFields(query: Document, options: FindQuery & { fields: readonly string[] }): AsyncGenerator<T> {
    const { timeoutMs = this.#timeoutMs, index } = options
    const cursor = this.#collection.aggregate(toPipeline(query, options), {
      maxTimeMS: timeoutMs,
      ...(index && { hint: index }),
    })
    yield* this.#iterate(cursor, timeoutMs)
  }

  /** The results of a pipeline, which reads one snapshot that a majority has. */
  aggregateSnapshot(pipeline: Document[]): Promise<Document[]> {
    const options = { readConcern: { level: 'snapshot' as never }, maxTimeMS: this.#timeoutMs }
    const read = () => this.#collection.aggregate(pipeline, options).toArray()
    return this.#run(read, requestTimeoutMs(this.#timeoutMs))
  }

  count(
    query: Document,
    { index, limit, timeoutMs = this.#timeoutMs }: Pick<FindQuery, 'index' | 'limit' | 'timeoutMs'> = {},
  ): Promise<number> {
    const options = { maxTimeMS: timeoutMs, ...(limit && { limit }), ...(index && { hint: index }) }
    return this.#run(() => this.#collection.countDocuments(query, options), requestTimeoutMs(timeoutMs))
  }

  /** The distinct values of a field in the matching documents, as a majority has them. */
  distinct(field: string, query: Document): Promise<string[]> {
    const options = { ...durable, maxTimeMS: this.#timeoutMs }
    const read = () => this.#collection.distinct(field, query, options)
    return this.#run(read as () => Promise<string[]>, requestTimeoutMs(this.#timeoutMs))
  }

  /** Updates one document. @returns whether one matched. */
  async update(query: Document, by: Document | Document[]): Promise<boolean> {
    const { matchedCount } = await this.#write(() =>
      this.#collection.updateOne(query, by, this.#writeOptions),
    )
    return matchedCount === 1
  }

  /** Updates one document, or inserts it. @returns undefined where two inserts raced: repeat it. */
  async updateAndGet(query: Document, by: Document): Promise<T | undefined> {
    const options = { ...this.#writeOptions, upsert: true, returnDocument: 'after' } as const
    const changed = await this.#write(() => this.#collection.findOneAndUpdate(query, by, options))
    return (changed as T | null) ?? undefined
  }

  /** Updates documents one after another. A unique index that rejects one ends the list. */
  async updateInOrder(updates: readonly (readonly [query: Document, by: Document])[]): Promise<void> {
    const models = updates.map(([filter, update]) => ({ updateOne: { filter, update } }))
    try {
      await this.#write(() => this.#collection.bulkWrite(models, this.#writeOptions))
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
    }
  }

  /** Inserts a document. @returns false when a unique index rejects it. */
  async insert(document: T): Promise<boolean> {
    try {
      await this.#write(() => this.#collection.insertOne(document as Document, this.#writeOptions))
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  /** Sets fields of one document. @returns whether one matched. */
  set(query: Document, fields: Partial<T>): Promise<boolean> {
    return this.update(query, { $set: fields })
  }

  /** Deletes one document. @returns whether one matched. */
  async deleteOne(query: Document): Promise<boolean> {
    const { deletedCount } = await this.#write(() => this.#collection.deleteOne(query, this.#writeOptions))
    return deletedCount === 1
  }

  /** Deletes all matching documents, not atomically. @returns how many were deleted. */
  async deleteMany(query: Document): Promise<number> {
    const { deletedCount } = await this.#write(() => this.#collection.deleteMany(query, this.#writeOptions))
    return deletedCount
  }

  #write<R>(request: () => Promise<R>): Promise<R> {
    return this.#run(request, requestTimeoutMs(this.#timeoutMs))
  }
}

export const toOptions = ({ sort, skip, limit, fields, index, timeoutMs }: FindQuery): FindOptions => ({
  ...(timeoutMs !== undefined && { maxTimeMS: timeoutMs }),
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
