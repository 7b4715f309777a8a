import type { Collection, Document, FindOptions, Sort } from 'mongodb'
import { isDuplicateKey, isDuplicateKeysOnly } from './mongodb-errors.ts'

/** Any document of ours: what it is found by, and its fields. */
export type MongoDocument = Document & { _id?: unknown }

export interface FindQuery {
  sort?: Sort
  skip?: number
  limit?: number
  /** Fields that will do. A hint that saves bytes: an engine may give the whole document. */
  fields?: readonly string[]
  /** An index that has all of `fields`, so that no document is read: then `_id` is not among what is found. */
  coveredBy?: string
  /** How long the engine may work on it, in milliseconds; 5,000 by default. */
  timeoutMs?: number
}

/** How long the engine may work on one read. */
const defaultTimeoutMs = 5_000

/** Lets a test kill between two writes, by throwing, or do something else there. */
export type BeforeWrite = (write: { collection: string; operation: string }) => void | Promise<void>

/** Sends one request to the engine; errors are ours. */
export type RunRequest = <R>(request: () => Promise<R>) => Promise<R>

/**
 * The little of a collection that portable stores are made of: each change touches one document, or deletes many.
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

  /** Documents as they are asked for, a batch at a time. */
  async *find(query: Document, options: FindQuery = {}): AsyncGenerator<T> {
    const cursor = this.#collection.find(query, toOptions(options))
    const next = () => this.#run(() => cursor.next())
    try {
      for (let found = await next(); found; found = await next()) yield found as unknown as T
    } finally {
      await cursor.close().catch(() => {})
    }
  }

  count(query: Document, timeoutMs = defaultTimeoutMs): Promise<number> {
    return this.#run(() => this.#collection.countDocuments(query, { maxTimeMS: timeoutMs }))
  }

  /** @returns false, and stores nothing, when a unique index has such a document already. */
  async insert(document: T): Promise<boolean> {
    try {
      await this.#write('insert', () => this.#collection.insertOne(document as Document))
      return true
    } catch (error) {
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  /** Inserts those that no unique index has already; in no order, and not as a whole. */
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

  /** Sets fields of one document. @returns whether there was one. */
  async set(query: Document, fields: Partial<T>): Promise<boolean> {
    const { matchedCount } = await this.#write('set', () =>
      this.#collection.updateOne(query, { $set: fields }),
    )
    return matchedCount === 1
  }

  /** Sets fields of one document. @returns it as it is then, or undefined when there was none. */
  async setAndGet(query: Document, fields: Partial<T>): Promise<T | undefined> {
    const changed = await this.#write('set', () =>
      this.#collection.findOneAndUpdate(query, { $set: fields }, { returnDocument: 'after' }),
    )
    return (changed as T | null) ?? undefined
  }

  /** @returns whether there was one. */
  async deleteOne(query: Document): Promise<boolean> {
    const { deletedCount } = await this.#write('delete', () => this.#collection.deleteOne(query))
    return deletedCount === 1
  }

  /** One document after the other: not as a whole. @returns how many there were. */
  async deleteMany(query: Document): Promise<number> {
    const { deletedCount } = await this.#write('delete', () => this.#collection.deleteMany(query))
    return deletedCount
  }

  /**
   * Adds to numbers of one document. Acknowledged by the primary alone, before the journal: for counts that can be taken
   * anew.
   *
   * @returns whether there was one.
   */
  async increment(query: Document, amounts: Readonly<Record<string, number>>): Promise<boolean> {
    const { matchedCount } = await this.#write('increment', () =>
      this.#collection.updateOne(query, { $inc: amounts }, { writeConcern: { w: 1 } }),
    )
    return matchedCount === 1
  }

  /** How many documents there are, and the sum of a number of theirs; one that lacks it adds nothing. */
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

const toOptions = ({ sort, skip, limit, fields, coveredBy, timeoutMs }: FindQuery): FindOptions => ({
  maxTimeMS: timeoutMs ?? defaultTimeoutMs,
  ...(coveredBy && { hint: coveredBy }),
  ...(sort && { sort }),
  ...(skip && { skip }),
  ...(limit && { limit }),
  ...(fields && {
    projection: { ...(coveredBy && { _id: 0 }), ...Object.fromEntries(fields.map((field) => [field, 1])) },
  }),
})
