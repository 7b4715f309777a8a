import { type Db, MongoClient, type MongoClientOptions } from 'mongodb'
import { storeUnavailable } from '../errors.ts'
import { type BeforeWrite, MongoCollection, type MongoDocument } from './mongodb-collection.ts'
import { translated } from './mongodb-errors.ts'
import {
  assertSchema,
  type MongoIndex,
  type MongoSchema,
  metaCollection,
  type SchemaDocument,
  SchemaGuard,
} from './mongodb-schema.ts'

/**
 * What was acknowledged is in the journal of a majority, and reads go to the primary. A deployment that is away fails
 * within seconds, which makes it a 503 and not a timeout.
 */
const options: MongoClientOptions = {
  w: 'majority',
  journal: true,
  wtimeoutMS: 5_000,
  readPreference: 'primary',
  retryReads: true,
  retryWrites: true,
  serverSelectionTimeoutMS: 2_000,
  connectTimeoutMS: 2_000,
  waitQueueTimeoutMS: 2_000,
  socketTimeoutMS: 10_000,
}

/** One database of a MongoDB deployment, whatever its topology: the driver connects when it is first asked. */
export class MongoDatabase implements AsyncDisposable {
  readonly #client: MongoClient
  readonly #database: Db
  readonly #beforeWrite: BeforeWrite | undefined
  readonly #guard: SchemaGuard | undefined
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  /**
   * @param url `mongodb://…/DATABASE` or `mongodb+srv://…/DATABASE`.
   * @param schema what this release knows: requests of collections then fail with STORE_SCHEMA_TOO_NEW within a second
   *   after a newer release has shut it out.
   */
  constructor(url: string, beforeWrite?: BeforeWrite, schema?: MongoSchema) {
    this.#client = new MongoClient(url, options)
    this.#database = this.#client.db(databaseName(url))
    this.#beforeWrite = beforeWrite
    if (schema) this.#guard = new SchemaGuard(this.#meta(), schema)
  }

  collection<T extends MongoDocument>(name: string): MongoCollection<T> {
    return new MongoCollection<T>(
      this.#database.collection(name),
      (request) => this.#admitted(request),
      this.#beforeWrite,
    )
  }

  /** The notes of all stores in this database, without the guard. */
  #meta(): MongoCollection<SchemaDocument> {
    return new MongoCollection(this.#database.collection(metaCollection), (request) => this.run(request))
  }

  #admitted<R>(request: () => Promise<R>): Promise<R> {
    return this.run(() => {
      const check = this.#guard?.admit()
      return check ? check.then(request) : request()
    })
  }

  /** Makes an index, unless it is there already. */
  async createIndex({ collection, name, key, unique }: MongoIndex): Promise<void> {
    const options = { name, ...(unique && { unique }) }
    await this.run(() => this.#database.collection(collection).createIndex(key, options))
  }

  /** The version of the server that takes writes, and its clock where it tells it. */
  async describeServer(): Promise<{ version: string; localTime?: Date }> {
    const { version } = await this.run(() => this.#database.command({ buildInfo: 1 }))
    const { localTime } = await this.run(() => this.#database.command({ hello: 1 }))
    return { version, localTime }
  }

  /** Sends one request to the engine, and turns the driver's errors into ours. */
  async run<R>(request: () => Promise<R>): Promise<R> {
    if (this.#isClosed) throw storeUnavailable(new Error('The store is closed'))
    const pending = request()
    this.#underWay.add(pending)
    try {
      return await pending
    } catch (error) {
      throw translated(error)
    } finally {
      this.#underWay.delete(pending)
    }
  }

  /**
   * Resolves while the deployment answers and has the indexes that `schema` asks for.
   *
   * @throws {ApiError} UNAVAILABLE: STORE_UNAVAILABLE, STORE_NOT_MIGRATED or STORE_SCHEMA_TOO_NEW.
   */
  async ping(schema: MongoSchema): Promise<void> {
    await assertSchema(this.#meta(), schema)
  }

  /** Waits for the requests under way, then lets go of the connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#underWay)
    await this.#client.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const databaseName = (url: string): string => {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1]
  // Not the whole URL: it may hold a password.
  if (!name) throw new Error('The mongodb: URL names no database. Use mongodb://HOST:PORT/DATABASE.')
  return decodeURIComponent(name)
}
