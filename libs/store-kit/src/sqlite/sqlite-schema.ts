import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ApiError } from '@fms/aip'
import { storeNotMigrated } from '../errors.ts'
import { assertCompatible, type SchemaVersion, schemaCheckMs } from '../schema-version.ts'

/**
 * One step of a schema in SQL. After a script alone, only releases that know it may use the file. `oldestVersion` admits
 * releases that know fewer migrations: those that read and write the changed file correctly.
 */
export type SqliteMigration = string | { script: string; oldestVersion: number }

/** Reads the schema version of a file. A file without `oldestVersion` admits only its own version. */
export const readSqliteVersion = (database: DatabaseSync): SchemaVersion => {
  const version = Number(database.prepare('PRAGMA user_version').get()!.user_version)
  const hasNote = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schemaNote'").get()
  if (!hasNote) return { version, oldestVersion: version }
  const { oldestVersion } = database.prepare('SELECT oldestVersion FROM schemaNote').get()!
  return { version, oldestVersion: Number(oldestVersion) }
}

/** Runs the migrations that the file lacks, and stores both versions. Runs inside a transaction. */
const applyMigrations = (
  database: DatabaseSync,
  found: SchemaVersion,
  migrations: readonly SqliteMigration[],
): void => {
  for (const migration of migrations.slice(found.version))
    database.exec(typeof migration === 'object' ? migration.script : migration)
  // The numbers of a newer release stay.
  const version = Math.max(found.version, migrations.length)
  const oldestVersion = Math.max(found.oldestVersion, ...migrations.map(oldestAfter))
  database.exec(`
    PRAGMA user_version = ${version};
    CREATE TABLE IF NOT EXISTS schemaNote (oldestVersion INTEGER NOT NULL) STRICT;
    DELETE FROM schemaNote;
    INSERT INTO schemaNote VALUES (${oldestVersion});
  `)
}

/** The oldest version that may use a file after the migration at `index`. */
const oldestAfter = (migration: SqliteMigration, index: number): number =>
  typeof migration === 'object' ? migration.oldestVersion : index + 1

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

  constructor(connection: DatabaseSync, store: string, migrations: readonly SqliteMigration[]) {
    this.#connection = connection
    this.#store = store
    this.#migrations = migrations
    this.#version = connection.prepare('PRAGMA user_version')
  }

  /** Runs the migrations that the file lacks; without any, needs no lock. @throws {ApiError} STORE_SCHEMA_TOO_NEW. */
  migrate(): void {
    if (this.#readCompatibleVersion().version >= this.#migrations.length) return
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
