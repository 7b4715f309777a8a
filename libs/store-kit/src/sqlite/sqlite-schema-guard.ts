import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ApiError } from '@fms/aip'
import { storeNotMigrated } from '../errors.ts'
import { assertCompatible, schemaCheckMs } from '../schema-note.ts'
import { applyMigrations, readSqliteNote, type SqliteMigration } from './sqlite-schema.ts'

/**
 * Migrates a file, and checks that this release may use it: when it is opened, in each write transaction, and once a
 * second between statements, since a newer release may migrate a file that is open.
 */
export class SqliteSchemaGuard {
  readonly #connection: DatabaseSync
  readonly #store: string
  readonly #migrations: readonly SqliteMigration[]
  readonly #version: StatementSync
  #checkedUntilMs = Number.NEGATIVE_INFINITY

  /** @param store the name of the store in errors. */
  constructor(connection: DatabaseSync, store: string, migrations: readonly SqliteMigration[]) {
    this.#connection = connection
    this.#store = store
    this.#migrations = migrations
    this.#version = connection.prepare('PRAGMA user_version')
  }

  /** Runs the migrations that the file lacks. @throws {ApiError} STORE_SCHEMA_TOO_NEW. */
  migrate(): void {
    this.#connection.exec('BEGIN IMMEDIATE')
    const note = this.#readCompatibleNote()
    applyMigrations(this.#connection, note, this.#migrations)
    this.#connection.exec('COMMIT')
  }

  /** @throws {ApiError} STORE_NOT_MIGRATED or STORE_SCHEMA_TOO_NEW. */
  assertMigrated(): void {
    const { version } = this.#readCompatibleNote()
    if (version < this.#migrations.length) throw storeNotMigrated(this.#store)
  }

  /** @throws {ApiError} STORE_SCHEMA_TOO_NEW. */
  check(): void {
    this.#checkedUntilMs = Number.NEGATIVE_INFINITY
    const { user_version: version } = this.#version.get()!
    // Only a file that a newer release has migrated can be incompatible.
    if (Number(version) > this.#migrations.length) this.#readCompatibleNote()
    this.#checkedUntilMs = performance.now() + schemaCheckMs
  }

  /** Like `check`, but at most once a second. */
  checkIfDue(): void {
    if (performance.now() > this.#checkedUntilMs) this.check()
  }

  /** @returns STORE_SCHEMA_TOO_NEW; undefined while this release may use the file. */
  schemaError(): ApiError | undefined {
    try {
      this.#readCompatibleNote()
      return undefined
    } catch (error) {
      return error instanceof ApiError ? error : undefined
    }
  }

  #readCompatibleNote() {
    const note = readSqliteNote(this.#connection)
    assertCompatible(this.#store, this.#migrations.length, note)
    return note
  }
}
