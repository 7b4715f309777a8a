import type { DatabaseSync } from 'node:sqlite'
import type { SchemaVersion } from '../schema-version.ts'

/** SQL, or a function for changes that SQL cannot express. It runs inside the transaction of the migrations. */
export type SqliteScript = string | ((database: DatabaseSync) => void)

/**
 * One step of a schema. After a script alone, only releases that know it may use the file. `oldestVersion` admits
 * releases that know fewer migrations: those that read and write the changed file correctly.
 */
export type SqliteMigration = SqliteScript | { script: SqliteScript; oldestVersion: number }

/** Reads the schema version of a file. A file without `oldestVersion` admits only its own version. */
export const readSqliteVersion = (database: DatabaseSync): SchemaVersion => {
  const version = Number(database.prepare('PRAGMA user_version').get()!.user_version)
  const hasNote = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schemaNote'").get()
  if (!hasNote) return { version, oldestVersion: version }
  const { oldestVersion } = database.prepare('SELECT oldestVersion FROM schemaNote').get()!
  return { version, oldestVersion: Number(oldestVersion) }
}

/** Runs the migrations that the file lacks, and stores both versions. Runs inside a transaction. */
export const applyMigrations = (
  database: DatabaseSync,
  found: SchemaVersion,
  migrations: readonly SqliteMigration[],
): void => {
  for (const migration of migrations.slice(found.version)) {
    const script = scriptOf(migration)
    if (typeof script === 'string') database.exec(script)
    else script(database)
  }
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

const scriptOf = (migration: SqliteMigration): SqliteScript =>
  typeof migration === 'object' ? migration.script : migration

/** The oldest version that may use a file after the migration at `index`. */
const oldestAfter = (migration: SqliteMigration, index: number): number =>
  typeof migration === 'object' ? migration.oldestVersion : index + 1
