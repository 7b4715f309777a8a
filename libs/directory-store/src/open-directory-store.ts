import { byScheme, openIfSupported, storeUpkeep } from '@fms/store-kit'
import type { DirectoryStore } from './directory-store.ts'
import { keyOperations } from './operations/keys.ts'
import { loginCodeOperations } from './operations/login-codes.ts'
import { memberOperations } from './operations/members.ts'
import { organizationOperations } from './operations/organizations.ts'
import { ownKeyOperations } from './operations/own-keys.ts'
import { recordOperations } from './operations/records.ts'
import { userOperations } from './operations/users.ts'
import { migrations } from './sqlite/schema.ts'
import { sqliteTables } from './sqlite/sqlite-tables.ts'
import type { DirectoryTables } from './tables/directory-tables.ts'

/**
 * @param url `sqlite:PATH`, relative to the current directory and created if missing; `sqlite::memory:`; or
 *   `mongodb://…/DATABASE`, migrated by {@link migrateDirectoryStore}.
 * @param options `readOnly` opens a SQLite file without creating or migrating it. `timeoutMs` is how long MongoDB may
 *   work on a request, in milliseconds; 5,000 by default.
 * @throws {Error} for a URL with another scheme; {ApiError} STORE_SCHEMA_TOO_NEW when a newer release has excluded this.
 */
export const openDirectoryStore = async (
  url: string,
  now = () => new Date(),
  options: { readOnly?: boolean; timeoutMs?: number } = {},
): Promise<DirectoryStore> =>
  byScheme<Promise<DirectoryStore>>('directory', url, {
    sqlite: async (path) => createDirectoryStore(sqliteTables(path, options), now),
    mongodb: async () => {
      // Loads the driver only for MongoDB.
      const { mongodbTables } = await import('./mongodb/mongodb-tables.ts')
      return openIfSupported(createDirectoryStore(mongodbTables(url, options.timeoutMs), now))
    },
  })

const upkeep = storeUpkeep({
  store: 'directory',
  table: 'members',
  migrations,
  mongodb: async () => (await import('./mongodb/schema.ts')).directorySchema,
})

/** Migrates a store to this release. Idempotent, and safe while others use it. Reports steps on MongoDB. */
export const migrateDirectoryStore = upkeep.migrate

/** Whether a directory store exists at a URL. Changes nothing. */
export const directoryStoreExists = upkeep.exists

/** Reads the schema version of a directory store and changes nothing. @returns undefined if the SQLite file does not exist. */
export const inspectDirectoryStore = upkeep.inspect

/** The directory store on the tables of an engine. Disposing closes them. */
const createDirectoryStore = (tables: DirectoryTables, now: () => Date): DirectoryStore => ({
  ...userOperations(tables, now),
  ...organizationOperations(tables, now),
  ...memberOperations(tables, now),
  ...keyOperations(tables, now),
  ...ownKeyOperations(tables, now),
  ...loginCodeOperations(tables, now),
  ...recordOperations(tables),
  authorize: tables.authorize,
  touchKey: tables.touchKey,
  ping: tables.ping,
  close: tables.close,
  [Symbol.asyncDispose]: tables.close,
})
