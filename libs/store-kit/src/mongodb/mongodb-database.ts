import { type Db, MongoClient, type MongoClientOptions } from 'mongodb'
import { storeUnavailable } from '../errors.ts'
import type { writeConflict } from '../retry-on-conflict.ts'
import { MongoCollection, type MongoDocument } from './mongodb-collection.ts'
import {
  assertSupported,
  type Deployment,
  readDeployment,
  readParameter,
  type ServerParameter,
} from './mongodb-deployment.ts'
import { translateMongodbError } from './mongodb-errors.ts'
import {
  assertMigrated,
  type MongoIndex,
  type MongoSchema,
  metaCollection,
  type SchemaDocument,
  SchemaGuard,
} from './mongodb-schema.ts'
import {
  engineTimeoutMs,
  majorityTimeoutMs,
  requestTimeoutMs,
  selectionTimeoutMs,
  socketTimeoutMs,
  withTimeLimit,
} from './mongodb-timeouts.ts'
import { runTransaction, type TransactionOptions, type TransactionWork } from './mongodb-transaction.ts'

/**
 * Acknowledged writes are in the journal of a majority; reads go to the primary. Requests to an unreachable deployment
 * fail within seconds: callers get a 503. The driver repeats what an overloaded server rejects up to twice, with backoff.
 */
const options: MongoClientOptions = {
  w: 'majority',
  journal: true,
  wtimeoutMS: majorityTimeoutMs,
  readPreference: 'primary',
  retryReads: true,
  retryWrites: true,
  maxAdaptiveRetries: 2,
  serverSelectionTimeoutMS: selectionTimeoutMs,
  connectTimeoutMS: selectionTimeoutMs,
  waitQueueTimeoutMS: selectionTimeoutMs,
}

/** A replica set or sharded cluster of MongoDB 8.0+; others get STORE_NOT_SUPPORTED. Connects with the first request. */
export class MongoDatabase implements AsyncDisposable {
  readonly #client: MongoClient
  readonly #database: Db
  readonly #guard: SchemaGuard | undefined
  readonly #timeoutMs: number
  readonly #inFlight = new Set<Promise<unknown>>()
  #isConnected = false
  #isSharded = false
  #isClosed = false

  /**
   * @param url `mongodb://…/DATABASE` or `mongodb+srv://…/DATABASE`.
   * @param schema of this release: collections fail with STORE_SCHEMA_TOO_NEW one second after a newer one excludes it.
   * @param overrides timeouts in milliseconds; `engineTimeoutMs` is for requests without a limit of their own, 5,000 by
   *   default.
   * @throws {Error} for a URL that is invalid or has no database; without the URL, which may contain a password.
   */
  constructor(
    url: string,
    schema?: MongoSchema,
    overrides: MongoClientOptions & { engineTimeoutMs?: number } = {},
  ) {
    const name = databaseName(url)
    const { engineTimeoutMs: timeoutMs = engineTimeoutMs, ...clientOptions } = overrides
    this.#timeoutMs = timeoutMs
    this.#client = createClient(url, {
      ...options,
      socketTimeoutMS: socketTimeoutMs(timeoutMs),
      ...clientOptions,
    })
    this.#database = this.#client.db(name)
    if (schema) this.#guard = new SchemaGuard(this.#meta(), schema)
  }

  /** A collection whose requests check the schema first, where the database has one. */
  collection<T extends MongoDocument>(name: string): MongoCollection<T> {
    return new MongoCollection<T>(
      this.#database.collection(name),
      this.#runGuarded.bind(this),
      this.#timeoutMs,
    )
  }

  /** Runs a transaction once, as {@link runTransaction} says. Checks the schema first, where there is one. */
  transaction<R>(work: TransactionWork<R>, options?: TransactionOptions): Promise<R | typeof writeConflict> {
    return this.#runGuarded(
      () =>
        runTransaction(this.#client, this.#database.databaseName, work, {
          ...options,
          isSharded: this.#isSharded,
          timeoutMs: this.#timeoutMs,
        }),
      2 * requestTimeoutMs(this.#timeoutMs),
    )
  }

  /** The collection of schema versions, without the guard that reads it. */
  #meta(): MongoCollection<SchemaDocument> {
    return new MongoCollection(this.#database.collection(metaCollection), this.run.bind(this))
  }

  #runGuarded<R>(request: () => Promise<R>, timeoutMs: number): Promise<R> {
    return this.run(() => {
      const check = this.#guard?.checkIfDue()
      return check ? check.then(request) : request()
    }, timeoutMs)
  }

  async createIndex({ collection, name, key, unique, sparse, ifPresent }: MongoIndex): Promise<void> {
    const options = {
      name,
      ...(unique && { unique }),
      ...(sparse && { sparse }),
      ...(ifPresent && { partialFilterExpression: { [ifPresent]: { $exists: true } } }),
    }
    await this.run(() => this.#database.collection(collection).createIndex(key, options))
  }

  readDeployment(): Promise<Deployment> {
    return this.run(() => readDeployment(this.#database))
  }

  readParameter(name: string): Promise<ServerParameter> {
    return this.run(() => readParameter(this.#database, name))
  }

  /**
   * Sends a request. The caller waits `timeoutMs`, by default until the driver gives up; a write may still happen later.
   *
   * @throws {ApiError} STORE_UNAVAILABLE or STORE_NOT_SUPPORTED; defects are unchanged.
   */
  async run<R>(request: () => Promise<R>, timeoutMs?: number): Promise<R> {
    if (this.#isClosed) throw storeUnavailable(new Error('The store is closed'))
    const pending = this.#isConnected ? request() : this.#connect().then(request)
    const awaited = timeoutMs === undefined ? pending : withTimeLimit(pending, timeoutMs)
    this.#inFlight.add(awaited)
    const settle = () => this.#inFlight.delete(awaited)
    awaited.then(settle, settle)
    try {
      return await awaited
    } catch (error) {
      throw translateMongodbError(error)
    }
  }

  /** Connects until it succeeds once: only then does the driver reconnect. Before, it fails with "Topology is closed". */
  async #connect(): Promise<void> {
    await this.#client.connect()
    const deployment = await readDeployment(this.#database)
    assertSupported(deployment)
    this.#isSharded = deployment.topology === 'sharded cluster'
    this.#isConnected = true
  }

  /**
   * Checks that the deployment is reachable, still supported, and has the indexes of `schema`.
   *
   * @throws {ApiError} UNAVAILABLE: STORE_UNAVAILABLE, STORE_NOT_SUPPORTED, STORE_NOT_MIGRATED or STORE_SCHEMA_TOO_NEW.
   */
  async ping(schema: MongoSchema): Promise<void> {
    assertSupported(await this.readDeployment())
    await assertMigrated(this.#meta(), schema)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#inFlight)
    await this.#client.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Creates the client. Its error leaves out the driver's message if that may repeat the URL. */
const createClient = (url: string, options: MongoClientOptions): MongoClient => {
  try {
    return new MongoClient(url, options)
  } catch (error) {
    const { message } = error as Error
    const reason = message.includes('@') || message.includes('//') ? '' : ` (${message})`
    throw new Error(
      `The mongodb: URL is invalid${reason}. Use mongodb://USER:PASSWORD@HOST:PORT/DATABASE, with %XX for special characters of user and password.`,
    )
  }
}

const databaseName = (url: string): string => {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1]
  // The URL may contain a password, so the message does not repeat it.
  if (!name) throw new Error('The mongodb: URL names no database. Use mongodb://HOST:PORT/DATABASE.')
  return decodeURIComponent(name)
}
