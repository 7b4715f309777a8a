import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AnyClientBulkWriteModel,
  type ClientSession,
  type Document,
  type MongoClient,
  MongoClientBulkWriteError,
  MongoError,
  MongoServerError,
} from 'mongodb'
import { conflictDeadline, writeConflict } from '../retry-on-conflict.ts'
import { type FindQuery, toOptions } from './mongodb-collection.ts'
import { isDuplicateKey } from './mongodb-errors.ts'
import { majorityTimeoutMs } from './mongodb-timeouts.ts'

/** A write in a transaction. Each affects at most one document, except for `updateMany` and `deleteMany`. */
export type TransactionWrite = { collection: string } & (
  | { insert: Document }
  | { update: Document; by: Document; upsert?: boolean }
  | { updateMany: Document; by: Document }
  | { deleteOne: Document }
  | { deleteMany: Document }
)

/** The work of a transaction. It returns `writeConflict` to abort it. It may run again, after an abort. */
export type TransactionWork<R> = (transaction: MongoTransaction) => Promise<R | typeof writeConflict>

export interface TransactionOptions {
  /** Called with all documents locked, before the commit and its repeats. Its error aborts what is not yet committed. */
  beforeCommit?: (() => void) | undefined
  /** When a commit with an unknown result is no longer repeated, by `performance.now()`. Default: in 5 s. */
  deadline?: number | undefined
}

interface AttemptOptions extends TransactionOptions {
  /** How long the engine may work on each request, in milliseconds. */
  timeoutMs: number
  /** Whether the deployment is a sharded cluster: there, only the read concern `snapshot` spans several shards. */
  isSharded?: boolean
}

/** The requests of a transaction, which have to be sent one after another. */
export class MongoTransaction {
  readonly #client: MongoClient
  readonly #name: string
  readonly #options: { session: ClientSession; maxTimeMS: number }

  constructor(client: MongoClient, name: string, session: ClientSession, timeoutMs: number) {
    this.#client = client
    this.#name = name
    this.#options = { session, maxTimeMS: timeoutMs }
  }

  /** Writes to any collections in one ordered `bulkWrite` (MongoDB 8). */
  async write(writes: readonly TransactionWrite[]): Promise<{ matched: number; deleted: number }> {
    try {
      const models = writes.map((write) => toModel(this.#name, write))
      const options = { ...this.#options, ordered: true }
      const { matchedCount, deletedCount, upsertedCount } = await this.#client.bulkWrite(models, options)
      return { matched: matchedCount + upsertedCount, deleted: deletedCount }
    } catch (error) {
      if (!(error instanceof MongoClientBulkWriteError)) throw error
      // The driver's error has neither the code and the message of a failed write, nor the labels of a failed request.
      const [failed] = error.writeErrors.values()
      throw failed ? new MongoServerError({ ...failed }) : (error.cause ?? error)
    }
  }

  async findOne<T>(collection: string, query: Document): Promise<T | undefined> {
    return (await this.find<T>(collection, query, { limit: 1 })).at(0)
  }

  async find<T>(
    collection: string,
    query: Document,
    options: Pick<FindQuery, 'sort' | 'limit' | 'fields'> = {},
  ): Promise<T[]> {
    const found = this.#collection(collection).find(query, { ...this.#options, ...toOptions(options) })
    return (await found.toArray()) as T[]
  }

  aggregate(collection: string, pipeline: Document[]): Promise<Document[]> {
    return this.#collection(collection).aggregate(pipeline, this.#options).toArray()
  }

  #collection(name: string) {
    return this.#client.db(this.#name).collection(name)
  }
}

/**
 * Runs `work` in a transaction and commits it with a majority and its journals. What a committed transaction has read, no
 * failover rolls back: one that only reads confirms an earlier change.
 *
 * The driver's `withTransaction` is not used: it repeats conflicts for 120 s, and finds no label in an error of a client
 * `bulkWrite`, whose labels are those of its cause.
 *
 * @returns the result of `work`; `writeConflict`, with nothing changed, if another write was faster, a unique index has
 *   rejected a document, or `work` returns it.
 * @throws {Error} the driver's, after which nothing is changed, unless the commit was sent and the deployment could not be
 *   reached until the deadline.
 */
export const runTransaction = async <R>(
  ...[client, name, work, options]: Parameters<typeof attempt<R>>
): Promise<R | typeof writeConflict> => {
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt(client, name, work, options)
    } catch (error) {
      // In a transaction the driver repeats no request whose connection broke.
      if (!hasLabel(error, 'TransientTransactionError') || repeats === maxRepeats) throw error
    }
  }
}

const writeConcern = { w: 'majority', journal: true, wtimeoutMS: majorityTimeoutMs } as const

/** Repeats of a transaction after broken connections and elections. */
const maxRepeats = 2

const attempt = async <R>(
  client: MongoClient,
  name: string,
  work: TransactionWork<R>,
  { beforeCommit, deadline = conflictDeadline(), isSharded = false, timeoutMs }: AttemptOptions,
): Promise<R | typeof writeConflict> => {
  const session = client.startSession()
  try {
    // On a replica set, a transaction reads a snapshot of the primary by default. Its commit waits for the majority.
    session.startTransaction({ writeConcern, ...(isSharded && { readConcern: { level: 'snapshot' } }) })
    const result = await work(new MongoTransaction(client, name, session, timeoutMs))
    if (result !== writeConflict) {
      beforeCommit?.()
      await commit(client, session, { beforeCommit, deadline })
    }
    return result
  } catch (error) {
    if (isConflict(error) || isDuplicateKey(error)) return writeConflict
    throw error
  } finally {
    // Aborts the transaction if it is still open.
    await session.endSession().catch(() => {})
  }
}

/** Commits until the result is known. A repeated commit has the result of the first one. */
const commit = async (
  client: MongoClient,
  session: ClientSession,
  { beforeCommit, deadline }: { beforeCommit: TransactionOptions['beforeCommit']; deadline: number },
): Promise<void> => {
  for (;;) {
    try {
      await session.commitTransaction()
      return
    } catch (error) {
      const isUnknown = hasLabel(error, 'UnknownTransactionCommitResult')
      if (isUnknown) await sleep(commitPauseMs)
      if (isUnknown && performance.now() <= deadline && mayCommit(beforeCommit)) continue
      await endOpenTransaction(client, session)
      throw error
    }
  }
}

const mayCommit = (beforeCommit: TransactionOptions['beforeCommit']): boolean => {
  try {
    beforeCommit?.()
    return true
  } catch {
    return false
  }
}

const commitPauseMs = 20

/**
 * Aborts a transaction unless it is committed. The driver does not abort one whose commit it has sent: its documents
 * would stay locked, or it might be committed after its deadline.
 */
const endOpenTransaction = async (client: MongoClient, session: ClientSession): Promise<void> => {
  await client
    .db('admin')
    .command({ killSessions: [session.id] })
    .catch(() => {})
}

/** LockTimeout, WriteConflict, SnapshotUnavailable, NoSuchTransaction. */
const conflictCodes = new Set<unknown>([24, 112, 246, 251])

const isConflict = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  hasLabel(error, 'TransientTransactionError') &&
  conflictCodes.has(error.code)

const hasLabel = (error: unknown, label: string): boolean =>
  error instanceof MongoError && error.hasErrorLabel(label)

const toModel = (database: string, write: TransactionWrite): AnyClientBulkWriteModel<Document> => {
  const namespace = `${database}.${write.collection}`
  if ('insert' in write) return { namespace, name: 'insertOne', document: write.insert }
  if ('deleteOne' in write) return { namespace, name: 'deleteOne', filter: write.deleteOne }
  if ('deleteMany' in write) return { namespace, name: 'deleteMany', filter: write.deleteMany }
  if ('updateMany' in write)
    return { namespace, name: 'updateMany', filter: write.updateMany, update: write.by }
  const { update: filter, by, upsert } = write
  return { namespace, name: 'updateOne', filter, update: by, ...(upsert && { upsert }) }
}
