import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ApiError } from '@fms/aip'
import { storeNotMigrated } from '../errors.ts'
import { assertCompatible, schemaCheckMs } from '../schema-version.ts'
import { applyMigrations, readSqliteVersion, type SqliteMigration } from './sqlite-schema.ts'

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
    const stored = this.#readCompatibleVersion()
    applyMigrations(this.#connection, stored, this.#migrations)
    this.#connection.exec('COMMIT')
  }

  /** @throws {ApiError} STORE_NOT_MIGRATED or STORE_SCHEMA_TOO_NEW. */
  assertMigrated(): void {
    const { version } = this.#readCompatibleVersion()
    if (version < this.#migrations.length) throw storeNotMigrated(this.#store)
  }

  /** @throws {ApiError} STORE_SCHEMA_TOO_NEW. */
  check(): void {
    this.#checkedUntilMs = Number.NEGATIVE_INFINITY
    const { user_version: version } = this.#version.get()!
    // Only a file that a newer release has migrated can be incompatible.
    if (Number(version) > this.#migrations.length) this.#readCompatibleVersion()
    this.#checkedUntilMs = performance.now() + schemaCheckMs
  }

  /** Like `check`, but at most once a second. */
  checkIfDue(): void {
    if (performance.now() > this.#checkedUntilMs) this.check()
  }

  /** @returns STORE_SCHEMA_TOO_NEW; undefined while this release may use the file. */
  schemaError(): ApiError | undefined {
    try {
      this.#readCompatibleVersion()
      return undefined
    } catch (error) {
      return error instanceof ApiError ? error : undefined
    }
  }

  #readCompatibleVersion() {
    const stored = readSqliteVersion(this.#connection)
    assertCompatible(this.#store, this.#migrations.length, stored)
    return stored
  }
}
