import { existsSync, mkdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { ApiError, matchesParts } from '@fms/aip'
import { storeNotMigrated, storeUnavailable } from '../errors.ts'
import { demandUsable, schemaCheckMs } from '../schema-note.ts'
import { applyMigrations, readSqliteNote, type SqliteMigration } from './sqlite-schema.ts'

/** Result codes (sqlite.org/rescode.html) that speak of the store's state and not of the statement. */
const transientCodes = new Set([
  5 /* BUSY */, 6 /* LOCKED */, 8 /* READONLY */, 10 /* IOERR */, 13 /* FULL */, 14 /* CANTOPEN */,
])
const busyCode = 5
/** SQLITE_ERROR: among others, a table, a column or a function that is not there. */
const sqlErrorCode = 1

/** Prepared statements kept; list statements vary with the filter, so the number is bounded. */
const maxStatements = 500

/** Changes that share one commit at the most, so that one process does not hold the lock for long. */
const maxBatch = 128

/** A batch ends once its changes have run for this long: the rest goes to the next one, in order. */
const maxBatchMs = 10

/** So many changes wait for no more: while they are committed, whoever sends the next ones has something to do. */
const fullBatch = 8

const defaultLockPatienceMs = 5_000

export type Row = Record<string, SQLInputValue>

/** A function of ours that SQL statements call; deterministic. */
export type SqlFunction = (...values: SQLOutputValue[]) => SQLInputValue

export interface SqliteOptions {
  /** How long a change waits for another process's lock before it gives up, in milliseconds; 5,000 by default. */
  lockPatienceMs?: number
  /** Leaves the file as it is: it has to be there, and to have all migrations. */
  readOnly?: boolean
  /** Whether foreign keys are enforced, by default they are. */
  foreignKeys?: boolean
  /** By their names in SQL; triggers and migrations may use them. */
  functions?: Readonly<Record<string, SqlFunction>>
}

/** What a row holds, in the order of its columns. */
type Values = SQLInputValue[]

interface Prepared {
  /** Gives rows as `Values`. */
  statement: StatementSync
  columns: string[]
}

interface PendingChange {
  change: () => unknown
  deadline: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/**
 * One SQLite file, shared by the processes of one machine: WAL with `synchronous=FULL`, so what was acknowledged
 * is on the disk.
 *
 * Reads run at once. Changes that arrive together share one transaction and one fsync (group commit), without one that
 * throws; each promise settles after the commit, so what a caller sees is a transaction per change.
 */
export class SqliteDatabase implements AsyncDisposable {
  readonly #database: DatabaseSync
  /** As errors call it. */
  readonly #name: string
  /** The schema version of this release. */
  readonly #knownVersion: number
  readonly #version: StatementSync
  #usableUntilMs = Number.NEGATIVE_INFINITY
  readonly #lockPatienceMs: number
  readonly #statements = new Map<string, Prepared>()
  #pending: PendingChange[] = []
  #flushing: Promise<void> | undefined
  /** Counts those that may have changed something. */
  #statementsRun = 0

  /**
   * @param path a file, made when it is missing, or `:memory:`.
   * @param migrations the file's `user_version` counts those it has. Only ever append.
   * @throws {ApiError} STORE_NOT_MIGRATED when it is only to be read and lacks some; STORE_SCHEMA_TOO_NEW when it has
   *   some after which this release may not use it.
   */
  constructor(
    path: string,
    migrations: readonly SqliteMigration[],
    {
      lockPatienceMs = defaultLockPatienceMs,
      readOnly = false,
      foreignKeys = true,
      functions = {},
    }: SqliteOptions = {},
  ) {
    this.#name = basename(path)
    this.#knownVersion = migrations.length
    this.#lockPatienceMs = lockPatienceMs
    if (path !== ':memory:' && !readOnly) mkdirSync(dirname(path), { recursive: true })
    this.#database = new DatabaseSync(path, { timeout: lockPatienceMs, readOnly })
    if (!readOnly) this.#keepLog()
    // What a statement would undo is kept in memory, where it costs no system calls.
    this.#database.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY')
    this.#database.exec(`PRAGMA foreign_keys = ${foreignKeys ? 'ON' : 'OFF'}`)
    this.#database.function('matchesParts', { deterministic: true }, (text, parts) =>
      Number(matchesParts(text as string, partsOf(parts as string))),
    )
    for (const [name, call] of Object.entries(functions))
      this.#database.function(name, { deterministic: true, varargs: true }, call)
    this.#version = this.#database.prepare('PRAGMA user_version')
    try {
      if (readOnly) this.#demandMigrated()
      else this.#migrate(migrations)
    } catch (error) {
      this.#database.close()
      throw error
    }
    // From here on nothing may block the event loop: a busy lock is waited for in #begin.
    this.#database.exec('PRAGMA busy_timeout = 2')
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => {
      const prepared = this.#prepare(sql)
      return (prepared.statement.all(...values) as unknown as Values[]).map((each) => rowOf(prepared, each))
    })
  }

  /** Like `all`, but reads a row when it is asked for. To be used up, or left, before anything else is awaited. */
  *iterate(sql: string, ...values: SQLInputValue[]): IterableIterator<Row> {
    try {
      const prepared = this.#prepare(sql)
      const rows = prepared.statement.iterate(...values) as IterableIterator<unknown>
      for (const each of rows) yield rowOf(prepared, each as Values)
    } catch (error) {
      throw this.#translated(error)
    }
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => {
      const prepared = this.#prepare(sql)
      const found = prepared.statement.get(...values) as unknown as Values | undefined
      return found && rowOf(prepared, found)
    })
  }

  /**
   * Runs `work` on one state of the file, whatever other processes change meanwhile.
   *
   * @param work synchronous, and reads alone.
   */
  snapshot<T>(work: () => T): T {
    return this.#guard(() => {
      // A change of this process is about to begin: what it sees is one state, too.
      if (this.#database.isTransaction) return work()
      this.#database.exec('BEGIN')
      try {
        return work()
      } finally {
        this.#database.exec('COMMIT')
      }
    })
  }

  /**
   * One state of the file for all reads until it is disposed of, over several turns of the event loop. For a connection
   * that writes nothing: a change would become part of it.
   */
  openSnapshot(): Disposable {
    return this.#guard(() => {
      this.#database.exec('BEGIN')
      return { [Symbol.dispose]: () => this.#database.isOpen && this.#database.exec('COMMIT') }
    })
  }

  /** Runs a statement inside a change. @returns how many rows it touched. */
  run(sql: string, ...values: SQLInputValue[]): number {
    this.#statementsRun++
    return Number(this.#prepare(sql).statement.run(...values).changes)
  }

  /**
   * Inserts a row inside a change. `OR FAIL` since SQLite keeps a copy of what it writes for every statement that it may
   * have to undo by itself, as one with a trigger; what fails here is undone with its change.
   *
   * @param conflict the unique columns, in parentheses, whose repetition is no error.
   * @returns false when such a row was there.
   */
  insert(table: string, row: Row, conflict?: string): boolean {
    const columns = Object.keys(row)
    const marks = columns.map(() => '?')
    const sql = `INSERT OR FAIL INTO ${table} (${columns.join(', ')}) VALUES (${marks.join(', ')})`
    return this.run(conflict ? `${sql} ON CONFLICT ${conflict} DO NOTHING` : sql, ...Object.values(row)) === 1
  }

  /**
   * Runs `change` in a transaction; what it throws is rolled back and rejects.
   *
   * @param change synchronous, and pure but for statements on this database: it may run again.
   * @throws {ApiError} UNAVAILABLE when the lock was not to be had or the disk refuses.
   */
  write<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ change, deadline: performance.now() + this.#lockPatienceMs, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /**
   * Checks that the file can be read, and that this release may use it.
   *
   * @throws {ApiError} STORE_UNAVAILABLE or STORE_SCHEMA_TOO_NEW.
   */
  ping(): void {
    this.#guard(() => this.#demandUsable())
  }

  /** Waits for the changes under way, then closes the file. */
  async close(): Promise<void> {
    await this.#flushing
    if (this.#database.isOpen) this.#database.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #flush(): Promise<void> {
    // Requests that come at once are read within a few turns of the event loop, and one alone waits for one turn.
    let gathered: number
    do {
      gathered = this.#pending.length
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#pending.length > gathered && this.#pending.length < fullBatch)
    while (this.#pending.length > 0) {
      const rest = await this.#commit(this.#pending.splice(0, maxBatch))
      this.#pending.unshift(...rest)
      // Whoever reads, or wants the lock in another process, has a turn between two batches.
      if (this.#pending.length > 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#flushing = undefined
  }

  /**
   * As many as the time allows in one transaction, or each of them in its own where one has to be undone.
   *
   * @returns those for which there was no time.
   */
  async #commit(batch: PendingChange[]): Promise<PendingChange[]> {
    try {
      await this.#begin(batch)
      const { ran, isUndone } = this.#commitTogether(batch)
      if (isUndone) for (const each of batch.slice(0, ran)) await this.#commit([each])
      return batch.slice(ran)
    } catch (error) {
      for (const { reject } of batch) reject(this.#translated(error))
      return []
    }
  }

  /** Takes the write lock without blocking the event loop; throws when all of `batch` ran out of patience. */
  async #begin(batch: PendingChange[]): Promise<void> {
    const lastDeadline = Math.max(...batch.map(({ deadline }) => deadline))
    for (;;) {
      try {
        this.#database.exec('BEGIN IMMEDIATE')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > lastDeadline) throw error
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
      }
    }
  }

  /**
   * Runs the changes in the transaction that has begun, and ends it. A savepoint for each would copy every page that
   * it touches, and is not needed: most of what throws does so before its first statement.
   *
   * @returns how many ran before the time was up; `isUndone` when one threw later while others were in the transaction:
   *   all is rolled back, and nothing settled. A change that takes all of the time is the last one: no neighbour undoes it.
   */
  #commitTogether(batch: PendingChange[]): { ran: number; isUndone: boolean } {
    const settle: (() => void)[] = []
    const endMs = performance.now() + maxBatchMs
    let ran = 0
    try {
      // No later release can migrate the file before the end of this transaction.
      this.#demandUsable()
      for (const { change, resolve, reject } of batch) {
        if (ran > 0 && performance.now() > endMs) break
        ran++
        const statementsBefore = this.#statementsRun
        try {
          const value = change() as never
          settle.push(() => resolve(value))
        } catch (error) {
          if (this.#statementsRun > statementsBefore) {
            // A full disk rolls everything back by itself.
            if (batch.length === 1 || !this.#database.isTransaction) throw error
            this.#database.exec('ROLLBACK')
            return { ran, isUndone: true }
          }
          settle.push(() => reject(this.#translated(error)))
        }
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    for (const done of settle) done()
    return { ran, isUndone: false }
  }

  /**
   * Turns the write-ahead log on. Of two processes that make one file at once, SQLite refuses one without waiting, lest
   * they wait for each other for ever (sqlite.org/c3ref/busy_handler.html).
   */
  #keepLog(): void {
    const deadline = performance.now() + this.#lockPatienceMs
    for (;;) {
      try {
        this.#database.exec('PRAGMA journal_mode = WAL')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 4)
      }
    }
  }

  #migrate(migrations: readonly SqliteMigration[]): void {
    this.#database.exec('BEGIN IMMEDIATE')
    const found = readSqliteNote(this.#database)
    demandUsable(this.#name, this.#knownVersion, found)
    applyMigrations(this.#database, found, migrations)
    this.#database.exec('COMMIT')
  }

  #demandMigrated(): void {
    const found = readSqliteNote(this.#database)
    demandUsable(this.#name, this.#knownVersion, found)
    if (found.version < this.#knownVersion) throw storeNotMigrated(this.#name)
  }

  /** The note is read only where a later release has migrated the file. */
  #demandUsable(): void {
    this.#usableUntilMs = Number.NEGATIVE_INFINITY
    const { user_version: version } = this.#version.get()!
    if (Number(version) > this.#knownVersion)
      demandUsable(this.#name, this.#knownVersion, readSqliteNote(this.#database))
    this.#usableUntilMs = performance.now() + schemaCheckMs
  }

  #prepare(sql: string): Prepared {
    if (performance.now() > this.#usableUntilMs) this.#demandUsable()
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      const statement = this.#database.prepare(sql)
      statement.setReturnArrays(true)
      prepared = { statement, columns: columnsOf(statement) }
      if (this.#statements.size >= maxStatements)
        this.#statements.delete(this.#statements.keys().next().value!)
      this.#statements.set(sql, prepared)
    }
    return prepared
  }

  #guard<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#translated(error)
    }
  }

  /**
   * Driver errors that speak of the store's state become ours, and so do those of statements that a newer schema makes
   * impossible. Everything else is a defect and passes as it is.
   */
  #translated(error: unknown): unknown {
    if (isClosed(error) || transientCodes.has(errorCode(error) ?? 0)) return storeUnavailable(error)
    return errorCode(error) === sqlErrorCode ? (this.#refusal() ?? error) : error
  }

  /** Why this release may not use the file; undefined while it may. */
  #refusal(): unknown {
    try {
      demandUsable(this.#name, this.#knownVersion, readSqliteNote(this.#database))
      return undefined
    } catch (error) {
      return error instanceof ApiError ? error : undefined
    }
  }
}

const columnsOf = (statement: StatementSync) => statement.columns().map(({ name }) => name)

/** The driver's own rows by name are dictionaries to V8: slow to make, and slow to read. */
const rowOf = (prepared: Prepared, values: Values): Row => {
  // Another process has added a column, which stands last.
  if (values.length !== prepared.columns.length) prepared.columns = columnsOf(prepared.statement)
  const row: Row = {}
  for (let index = 0; index < values.length; index++) row[prepared.columns[index]!] = values[index]!
  return row
}

/** Whether there is such a file, and such a table in it. Leaves no trace. */
export const sqliteStoreExists = (path: string, table: string): boolean => {
  if (!existsSync(path)) return false
  using database = new DatabaseSync(path, { readOnly: true })
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
  return database.prepare(sql).get(table) !== undefined
}

/** A query asks with the same parts for row after row. */
let lastParts = { json: '[]', parts: [] as string[] }
const partsOf = (json: string): string[] => {
  if (lastParts.json !== json) lastParts = { json, parts: JSON.parse(json) }
  return lastParts.parts
}

const errorCode = (error: unknown) =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined

const isBusy = (error: unknown) => errorCode(error) === busyCode

/** The driver's answer to every call after `close`. */
const isClosed = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'

/** The file path of a `sqlite:PATH` URL. */
export const sqlitePath = (url: string): string => {
  if (!url.startsWith('sqlite:')) throw new Error(`Not a sqlite: URL: ${url.split(':')[0]}:…`)
  return url.slice('sqlite:'.length)
}
