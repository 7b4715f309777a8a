import type { DatabaseSync } from 'node:sqlite'
import { FairQueue, type Flow, type QueueEntry } from '@fms/scheduling'
import { isBusy } from './sqlite-errors.ts'

/** The most changes of one commit, so that one process does not hold the lock for long. */
const maxBatch = 128

/** The time after which no further change of a batch begins. */
const maxBatchMs = 10

/** The number of queued changes that are committed without waiting for more. Callers prepare the next batch meanwhile. */
const commitThreshold = 8

interface QueuedChange {
  entry: QueueEntry
  change: () => unknown
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

/** Changes without a caller: those of operators and of background work. */
const ownFlow: Flow = { organization: '', user: '' }

/**
 * Runs the changes of concurrent callers, who take turns, in one transaction with one fsync (group commit). Each caller
 * sees a transaction of its own: a change that throws is rolled back alone, and promises settle after the commit.
 */
export class GroupCommit {
  readonly #connection: DatabaseSync
  readonly #options: GroupCommitOptions
  readonly #turns = new FairQueue({ seats: 1 })
  #next: QueuedChange | undefined
  #flushing: Promise<void> | undefined

  constructor(connection: DatabaseSync, options: GroupCommitOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Queues a change. @returns its result, once it is committed. */
  write<T>(change: () => T, flow = ownFlow): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#turns.enter(flow, (entry) => {
        this.#next = { entry, change, resolve, reject }
      })
      this.#flushing ??= this.#flush()
    })
  }

  async drain(): Promise<void> {
    await this.#flushing
  }

  async #flush(): Promise<void> {
    await this.#waitForMore()
    while (this.#next) {
      await this.#commit(() => this.#take())
      // Readers, and other processes that wait for the lock, run between two batches.
      if (this.#next) await nextIteration()
    }
    this.#flushing = undefined
  }

  get #queued(): number {
    return this.#turns.waiting + this.#turns.held
  }

  #take(): QueuedChange | undefined {
    const taken = this.#next
    this.#next = undefined
    if (taken) this.#turns.leave(taken.entry)
    return taken
  }

  /** Waits while each iteration of the event loop queues more changes: concurrent requests arrive within a few. */
  async #waitForMore(): Promise<void> {
    let queued: number
    do {
      queued = this.#queued
      await nextIteration()
    } while (this.#queued > queued && this.#queued < commitThreshold)
  }

  /** Commits the changes that fit into a batch: in one transaction, or in one each where that is rolled back. */
  async #commit(next: () => QueuedChange | undefined): Promise<void> {
    const batch: QueuedChange[] = []
    try {
      await this.#begin()
      if (this.#runInTransaction(next, batch)) return
    } catch (error) {
      // Without a transaction, all changes fail that wait for one.
      if (batch.length === 0) for (let each = next(); each; each = next()) batch.push(each)
      for (const { reject } of batch) reject(this.#options.translateError(error))
      return
    }
    for (const queued of batch) {
      const alone = [queued]
      await this.#commit(() => alone.pop())
    }
  }

  /** Acquires the write lock without blocking the event loop. */
  async #begin(): Promise<void> {
    const deadline = performance.now() + this.#options.lockTimeoutMs
    for (;;) {
      try {
        this.#connection.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
      }
    }
  }

  /**
   * Runs changes in the open transaction, adds them to `batch`, and ends it. A savepoint for each change would copy every
   * page that it touches, and most changes that throw do so before their first statement.
   *
   * @returns false when one of several changes threw after it had written: all is rolled back, and no promise is settled.
   *   A change that uses up the time ends its batch, so that no later change causes it to run again.
   */
  #runInTransaction(next: () => QueuedChange | undefined, batch: QueuedChange[]): boolean {
    const settle: (() => void)[] = []
    const endMs = performance.now() + maxBatchMs
    try {
      // In the transaction, since no newer release can migrate the file before its end.
      this.#options.beforeChanges()
      while (batch.length < maxBatch && (batch.length === 0 || performance.now() <= endMs)) {
        const queued = next()
        if (!queued) break
        batch.push(queued)
        const settled = this.#run(queued, batch.length === 1)
        if (!settled) {
          this.#connection.exec('ROLLBACK')
          return false
        }
        settle.push(settled)
      }
      this.#connection.exec('COMMIT')
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
      throw error
    }
    for (const settleOne of settle) settleOne()
    return true
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

const nextIteration = () => new Promise((resolve) => setImmediate(resolve))
