import {
  byScheme,
  type Migration,
  type MigrationStep,
  openIfSupported,
  sqlitePath,
  sqliteStoreExists,
} from '@fms/store-kit'
import type { DirectoryStore } from './directory-store.ts'
import { keyOperations } from './operations/keys.ts'
import { loginCodeOperations } from './operations/login-codes.ts'
import { memberOperations } from './operations/members.ts'
import { organizationOperations } from './operations/organizations.ts'
import { ownKeyOperations } from './operations/own-keys.ts'
import { recordOperations } from './operations/records.ts'
import { userOperations } from './operations/users.ts'
import { migrations } from './sqlite/schema.ts'
import { SqliteTables } from './sqlite/sqlite-tables.ts'
import type { DirectoryTables } from './tables/directory-tables.ts'

const systemClock = () => new Date()

/**
 * Opens a directory store.
 *
 * @param url `sqlite:PATH`, relative to the current directory and created if missing; `sqlite::memory:`; or
 *   `mongodb://…/DATABASE`, migrated by {@link migrateDirectoryStore}.
 * @param now the clock for createTimes; by default the system clock.
 * @param options `readOnly` opens a SQLite file without creating or migrating it. `timeoutMs` is how long MongoDB may
 *   work on a request, in milliseconds; 5,000 by default.
 * @throws {Error} for a URL with another scheme.
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW when a newer release has shut this one out.
 */
export const openDirectoryStore = async (
  url: string,
  now = systemClock,
  options: { readOnly?: boolean; timeoutMs?: number } = {},
): Promise<DirectoryStore> =>
  byScheme<Promise<DirectoryStore>>('directory', url, {
    sqlite: async () => createDirectoryStore(new SqliteTables(sqlitePath(url), options), now),
    mongodb: async () => {
      // Loads the driver only for MongoDB.
      const { MongodbTables } = await import('./mongodb/mongodb-tables.ts')
      return openIfSupported(createDirectoryStore(new MongodbTables(url, options.timeoutMs), now))
    },
  })

/**
 * Migrates a directory store to the current schema version. Idempotent, and safe while other processes use the store.
 * Opening a SQLite file migrates it too.
 *
 * @param url as for {@link openDirectoryStore}.
 * @param onStep receives the progress on MongoDB.
 */
export const migrateDirectoryStore = (
  url: string,
  onStep?: (step: MigrationStep) => void,
): Promise<Migration> =>
  byScheme<Promise<Migration>>('directory', url, {
    sqlite: async () => {
      await new SqliteTables(sqlitePath(url)).close()
      return { engine: 'SQLite', version: migrations.length }
    },
    mongodb: async () => {
      const { migrateMongodb } = await import('@fms/store-kit/mongodb')
      const { directorySchema } = await import('./mongodb/schema.ts')
      return migrateMongodb(url, directorySchema, { onStep })
    },
  })

/**
 * Whether a directory store exists at a URL. Changes nothing.
 *
 * @param url as for {@link openDirectoryStore}.
 */
export const directoryStoreExists = (url: string): Promise<boolean> =>
  byScheme<Promise<boolean>>('directory', url, {
    sqlite: async () => sqliteStoreExists(sqlitePath(url), 'members'),
    mongodb: async () => (await import('@fms/store-kit/mongodb')).mongodbStoreExists(url, 'directory'),
  })

/** The directory store on the tables of an engine. Disposing closes them. */
const createDirectoryStore = (tables: DirectoryTables, now: () => Date): DirectoryStore => ({
  ...userOperations(tables, now),
  ...organizationOperations(tables, now),
  ...memberOperations(tables, now),
  ...keyOperations(tables, now),
  ...ownKeyOperations(tables, now),
  ...loginCodeOperations(tables, now),
  ...recordOperations(tables),
  ping: () => tables.ping(),
  close: () => tables.close(),
  [Symbol.asyncDispose]: () => tables.close(),
})
