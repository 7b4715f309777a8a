import { byScheme, openIfSupported, storeUpkeep } from '@fms/store-kit'
import type { FormsStore, FormsStoreOptions } from './forms-store.ts'
import { SqliteFormsStore } from './sqlite/forms-store.ts'
import { migrations } from './sqlite/schema.ts'

/**
 * @param url `sqlite:PATH`, a file on this machine that is created and migrated, or `mongodb://…/DATABASE`, which
 *   {@link migrateFormsStore} has prepared.
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW when a newer release has migrated the store and excluded this one.
 */
export const openFormsStore = async (url: string, options: FormsStoreOptions = {}): Promise<FormsStore> =>
  byScheme<Promise<FormsStore>>('forms', url, {
    sqlite: async (path) => new SqliteFormsStore(path, options),
    mongodb: async () => {
      // Loads the driver only where it is used.
      const { MongoFormsStore } = await import('./mongodb/forms-store.ts')
      return openIfSupported(new MongoFormsStore(url, options))
    },
  })

const upkeep = storeUpkeep({
  store: 'forms',
  table: 'forms',
  migrations,
  mongodb: async () => (await import('./mongodb/schema.ts')).formsSchema,
})

/** Migrates a store to this release. Idempotent, and safe while other processes use the store. Reports steps on MongoDB. */
export const migrateFormsStore = upkeep.migrate

/** Whether the URL has a forms store. Changes nothing. */
export const formsStoreExists = upkeep.exists

/** Reads the schema version of a store and changes nothing. @returns undefined if the SQLite file does not exist. */
export const inspectFormsStore = upkeep.inspect
