import { basename, dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { matchesParts } from '@fms/aip'
import type { Flow } from '@fms/scheduling'
import { storageFull } from '../errors.ts'
import { measureFreeBytes, reservedBytes } from './disk-room.ts'
import { GroupCommit } from './group-commit.ts'
import { makeFolder } from './make-folder.ts'
import { assertRestored } from './restoring.ts'
import { isBusy, translateSqliteError } from './sqlite-errors.ts'
import { type SqliteMigration, SqliteSchemaGuard } from './sqlite-schema.ts'
import { type Row, Statements } from './statements.ts'

const defaultLockTimeoutMs = 5_000

export interface SqliteOptions {
  /** How long a change waits for the lock of another process, in milliseconds; 5,000 by default. */
  lockTimeoutMs?: number
  /** Opens the file without changing it: it has to exist and to have all migrations. False by default. */
  readOnly?: boolean
  /** Size of the pages that the connection caches, in bytes; 2 MB by default. */
  pageCacheBytes?: number
  /** The free bytes on the disk of the file. Default: measured. For tests. */
  diskFreeBytes?: (() => number) | undefined
}

/** A SQLite file that processes of one machine share. Reads run at once; a resolved `write` is synced to the disk. */
export class SqliteDatabase implements AsyncDisposable {
  readonly #connection: DatabaseSync
  readonly #schema: SqliteSchemaGuard
  readonly #statements: Statements
  readonly #commits: GroupCommit
  readonly #diskFreeBytes: () => number
  /** Counts the statements that may have changed the file. */
  #statementsRun = 0
  /** Throws when the snapshot is aborted. */
  #check = () => {}

  /**
   * @param path a file, created when it is missing, or `:memory:`.
   * @param migrations the `user_version` of the file is the number of those that it has. Only ever append.
   * @throws {Error} when a restore of the file was interrupted.
   * @throws {ApiError} STORE_NOT_MIGRATED when a read-only file lacks migrations; STORE_SCHEMA_TOO_NEW when a newer
   *   release has made the file unusable for this one.
   */
  constructor(path: string, migrations: readonly SqliteMigration[], options: SqliteOptions = {}) {
    const { lockTimeoutMs = defaultLockTimeoutMs, readOnly = false } = options
    assertRestored(path)
    if (path !== ':memory:' && !readOnly) makeFolder(dirname(path))
    this.#connection = openConnection(path, { ...options, lockTimeoutMs, readOnly })
    this.#diskFreeBytes = options.diskFreeBytes ?? measureFreeBytes(path)
    this.#connection.function('notAborted', () => {
      this.#check()
      return 1
    })
    this.#statements = new Statements(this.#connection)
    this.#schema = new SqliteSchemaGuard(this.#connection, basename(path), migrations)
    this.#commits = new GroupCommit(this.#connection, {
      lockTimeoutMs,
      beforeChanges: () => this.#schema.check(),
      statementsRun: () => this.#statementsRun,
      translateError: (error) => this.#translate(error),
    })
    try {
      if (readOnly) this.#schema.assertMigrated()
      else this.#schema.migrate()
    } catch (error) {
      this.#connection.close()
      throw error
    }
    // From here on nothing may block the event loop: GroupCommit waits for the lock.
    this.#connection.exec('PRAGMA busy_timeout = 2')
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#translating(() => this.#prepare(sql).all(values))
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#translating(() => this.#prepare(sql).get(values))
  }

  /** Runs synchronous reads on one state of the file. An error of `check`, at first or in `unlessAborted`, ends them. */
  snapshot<T>(work: () => T, check: () => void = () => {}): T {
    return this.#translating(() => {
      check()
      // A transaction of this process is open already; its reads see one state as well.
      if (this.#connection.isTransaction) return work()
      this.#connection.exec('BEGIN')
      this.#check = check
      try {
        return work()
      } finally {
        this.#check = () => {}
        // SQLite itself ends the transaction when the disk fails.
        if (this.#connection.isTransaction) this.#connection.exec('COMMIT')
      }
    })
  }

  /** Runs a statement inside a change. @returns the number of rows that it changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    this.#statementsRun++
    return this.#prepare(sql).run(values)
  }

  /** Inserts a row inside a change, whose rollback undoes a failed insert. `OR FAIL` saves SQLite's statement journal. */
  insert(table: string, row: Row): void {
    const columns = Object.keys(row)
    const marks = columns.map(() => '?')
    const sql = `INSERT OR FAIL INTO ${table} (${columns.join(', ')}) VALUES (${marks.join(', ')})`
    this.run(sql, ...Object.values(row))
  }

  /**
   * Runs `change`, which is synchronous, in a transaction; its error rolls it back. It may run again, so its only side
   * effects may be statements on this database.
   *
   * @throws {ApiError} STORE_UNAVAILABLE when the lock timed out or the disk fails; STORAGE_FULL; STORE_SCHEMA_TOO_NEW.
   */
  write<T>(change: () => T, flow?: Flow): Promise<T> {
    return this.#commits.write(change, flow)
  }

  /** Checks for room to grow, on the disk or in free pages; deletes need no check. @throws {ApiError} STORAGE_FULL. */
  assertRoom(): void {
    const diskBytes = this.#diskFreeBytes()
    if (diskBytes > reservedBytes) return
    const sql = 'SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count, pragma_page_size'
    if (diskBytes + (this.get(sql)!.bytes as number) <= reservedBytes) throw storageFull()
  }

  /** Checks that the file can be used. @throws {ApiError} STORE_UNAVAILABLE, STORE_SCHEMA_TOO_NEW. */
  ping(): void {
    this.#translating(() => this.#schema.check())
  }

  async close(): Promise<void> {
    await this.#commits.drain()
    if (this.#connection.isOpen) this.#connection.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #prepare(sql: string) {
    this.#schema.checkIfDue()
    return this.#statements.get(sql)
  }

  #translating<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#translate(error)
    }
  }

  #translate(error: unknown): unknown {
    return translateSqliteError(error, () => this.#schema.schemaError())
  }
}

const openConnection = (
  path: string,
  {
    lockTimeoutMs,
    readOnly,
    pageCacheBytes = 2_000 * 1024,
  }: SqliteOptions & { lockTimeoutMs: number; readOnly: boolean },
): DatabaseSync => {
  const connection = new DatabaseSync(path, { timeout: lockTimeoutMs, readOnly })
  if (!readOnly) enableWriteAheadLog(connection, lockTimeoutMs)
  // Statement journals are kept in memory, where they cost no system calls.
  connection.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY')
  connection.exec(`PRAGMA cache_size = ${-Math.ceil(pageCacheBytes / 1024)}`)
  connection.function('matchesParts', { deterministic: true }, (text, parts) =>
    Number(matchesParts(text as string, parseParts(parts as string))),
  )
  return connection
}

/** Switches to WAL. Retries: when two processes create a file, SQLite fails one (sqlite.org/c3ref/busy_handler.html). */
const enableWriteAheadLog = (connection: DatabaseSync, timeoutMs: number): void => {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      connection.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 4)
    }
  }
}

/** The last parsed argument of `matchesParts`, which is the same for all rows of a query. */
let lastParts = { json: '[]', parts: [] as string[] }
const parseParts = (json: string): string[] => {
  if (lastParts.json !== json) lastParts = { json, parts: JSON.parse(json) }
  return lastParts.parts
}
