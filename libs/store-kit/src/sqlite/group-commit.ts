import type { DatabaseSync } from 'node:sqlite'
import { isBusy } from './sqlite-errors.ts'

/** The most changes of one commit, so that one process does not hold the lock for long. */
const maxBatch = 128

/** The time after which no further change of a batch begins. The next batch continues in order. */
const maxBatchMs = 10

/** The number of queued changes that are committed without waiting for more. Callers prepare the next batch meanwhile. */
const commitThreshold = 8

interface QueuedChange {
  change: () => unknown
  /** When waiting for the lock ends, by `performance.now()`. */
  deadline: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface GroupCommitOptions {
  /** How long a change waits for the lock of another process, in milliseconds. */
  lockTimeoutMs: number
  /** Runs first in each transaction; its errors reject the batch. */
  beforeChanges: () => void
  /** Counts the writing statements that have run on the connection. */
  statementsRun: () => number
  translateError: (error: unknown) => unknown
}

/**
 * Runs the changes of concurrent callers in one transaction with one fsync (group commit). Each caller sees a
 * transaction of its own: a change that throws is rolled back without the others, and promises settle after the commit.
 */
export class GroupCommit {
  readonly #connection: DatabaseSync
  readonly #options: GroupCommitOptions
  #queue: QueuedChange[] = []
  #flushing: Promise<void> | undefined

  constructor(connection: DatabaseSync, options: GroupCommitOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Queues a change. @returns its result, once it is committed. */
  write<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = performance.now() + this.#options.lockTimeoutMs
      this.#queue.push({ change, deadline, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /** Resolves once the queue is empty. */
  async drain(): Promise<void> {
    await this.#flushing
  }

  async #flush(): Promise<void> {
    await this.#waitForMore()
    while (this.#queue.length > 0) {
      const rest = await this.#commit(this.#queue.splice(0, maxBatch))
      this.#queue.unshift(...rest)
      // Readers, and other processes that wait for the lock, run between two batches.
      if (this.#queue.length > 0) await nextTurn()
    }
    this.#flushing = undefined
  }

  /** Waits while each turn of the event loop queues more changes: concurrent requests arrive within a few turns. */
  async #waitForMore(): Promise<void> {
    let queued: number
    do {
      queued = this.#queue.length
      await nextTurn()
    } while (this.#queue.length > queued && this.#queue.length < commitThreshold)
  }

  /**
   * Commits as many changes as fit into the time of a batch: in one transaction, or in one each where that is rolled
   * back.
   *
   * @returns the changes that have not run.
   */
  async #commit(batch: QueuedChange[]): Promise<QueuedChange[]> {
    try {
      await this.#begin(batch)
      const { ran, isRolledBack } = this.#runInTransaction(batch)
      if (isRolledBack) for (const queued of batch.slice(0, ran)) await this.#commit([queued])
      return batch.slice(ran)
    } catch (error) {
      for (const { reject } of batch) reject(this.#options.translateError(error))
      return []
    }
  }

  /** Acquires the write lock without blocking the event loop. Throws after the last deadline of the batch. */
  async #begin(batch: QueuedChange[]): Promise<void> {
    const lastDeadline = Math.max(...batch.map(({ deadline }) => deadline))
    for (;;) {
      try {
        this.#connection.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > lastDeadline) throw error
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
      }
    }
  }

  /**
   * Runs the changes in the open transaction and ends it. There is no savepoint for each change: it would copy every
   * page that the change touches, and most changes that throw do so before their first statement.
   *
   * @returns `ran`, the number of changes that ran before the time was up; `isRolledBack` when one of several changes
   *   threw after it had written: then everything is rolled back, and no promise is settled. A change that uses up the
   *   time is the last of its batch, so that no later change causes it to run again.
   */
  #runInTransaction(batch: QueuedChange[]): { ran: number; isRolledBack: boolean } {
    const settle: (() => void)[] = []
    const endMs = performance.now() + maxBatchMs
    let ran = 0
    try {
      // In the transaction, since no newer release can migrate the file before its end.
      this.#options.beforeChanges()
      for (const queued of batch) {
        if (ran > 0 && performance.now() > endMs) break
        ran++
        const settled = this.#run(queued, batch.length === 1)
        if (!settled) {
          this.#connection.exec('ROLLBACK')
          return { ran, isRolledBack: true }
        }
        settle.push(settled)
      }
      this.#connection.exec('COMMIT')
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
      throw error
    }
    for (const settleOne of settle) settleOne()
    return { ran, isRolledBack: false }
  }

  /** @returns what settles the promise after the commit; undefined when the transaction has to be rolled back. */
  #run({ change, resolve, reject }: QueuedChange, isOnly: boolean): (() => void) | undefined {
    const { statementsRun, translateError } = this.#options
    const statementsBefore = statementsRun()
    try {
      const value = change() as never
      return () => resolve(value)
    } catch (error) {
      if (statementsRun() === statementsBefore) return () => reject(translateError(error))
      // SQLite itself rolls back when the disk is full.
      if (isOnly || !this.#connection.isTransaction) throw error
      return undefined
    }
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
