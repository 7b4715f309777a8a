import {
  byScheme,
  inspectSqlite,
  type Migration,
  openUnlessTooNew,
  type StoreState,
  sqlitePath,
  sqliteStoreExists,
} from '@fms/store-kit'
import type { FormsStore, FormsStoreOptions } from './forms-store.ts'
import { SqliteFormsStore } from './sqlite/forms-store.ts'
import { migrations } from './sqlite/schema.ts'

/**
 * Opens the engine that the URL names: `sqlite:PATH`, a file on this machine, or `mongodb://…/DATABASE`, which
 * {@link migrateFormsStore} has to have prepared.
 *
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW where a newer release has shut this one out.
 */
export const openFormsStore = async (url: string, options: FormsStoreOptions = {}): Promise<FormsStore> =>
  byScheme<Promise<FormsStore>>('forms', url, {
    sqlite: async () => new SqliteFormsStore(sqlitePath(url), options),
    mongodb: async () => {
      // A machine that has no use for the driver does not load it.
      const { MongoFormsStore } = await import('./mongodb/forms-store.ts')
      return openUnlessTooNew(new MongoFormsStore(url, options))
    },
  })

/** Makes whatever the store lacks; may run again, and while others use it. A SQLite file is migrated as it is opened. */
export const migrateFormsStore = (url: string): Promise<Migration> =>
  byScheme<Promise<Migration>>('forms', url, {
    sqlite: async () => {
      await new SqliteFormsStore(sqlitePath(url)).close()
      return { engine: 'SQLite', version: migrations.length }
    },
    mongodb: async () => {
      const { migrateMongodb } = await import('@fms/store-kit/mongodb')
      const { formsSchema } = await import('./mongodb/schema.ts')
      const { fillMissingFields } = await import('./mongodb/fill-missing-fields.ts')
      return migrateMongodb(url, formsSchema, () => fillMissingFields(url))
    },
  })

/** Whether a forms store was ever made there. Changes nothing. */
export const formsStoreExists = (url: string): Promise<boolean> =>
  byScheme<Promise<boolean>>('forms', url, {
    sqlite: async () => sqliteStoreExists(sqlitePath(url), 'forms'),
    mongodb: async () => (await import('@fms/store-kit/mongodb')).mongodbStoreExists(url, 'forms'),
  })

/** Reads the schema version of a store and changes nothing. @returns undefined if the SQLite file does not exist. */
export const inspectFormsStore = (url: string): Promise<StoreState | undefined> =>
  byScheme<Promise<StoreState | undefined>>('forms', url, {
    sqlite: async () => inspectSqlite(sqlitePath(url), migrations.length),
    mongodb: async () => {
      const { inspectMongodb } = await import('@fms/store-kit/mongodb')
      const { formsSchema } = await import('./mongodb/schema.ts')
      return inspectMongodb(url, formsSchema)
    },
  })
