import {
  byScheme,
  inspectSqlite,
  type Migration,
  type MigrationStep,
  openIfSupported,
  type StoreState,
  sqlitePath,
  sqliteStoreExists,
} from '@fms/store-kit'
import type { FormsStore, FormsStoreOptions } from './forms-store.ts'
import { SqliteFormsStore } from './sqlite/forms-store.ts'
import { migrations } from './sqlite/schema.ts'

/**
 * Opens a forms store.
 *
 * @param url `sqlite:PATH`, a file on this machine that is created and migrated, or `mongodb://…/DATABASE`, which
 *   {@link migrateFormsStore} has prepared.
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW when a newer release has migrated the store and excluded this one.
 */
export const openFormsStore = async (url: string, options: FormsStoreOptions = {}): Promise<FormsStore> =>
  byScheme<Promise<FormsStore>>('forms', url, {
    sqlite: async () => new SqliteFormsStore(sqlitePath(url), options),
    mongodb: async () => {
      // Loads the driver only where it is used.
      const { MongoFormsStore } = await import('./mongodb/forms-store.ts')
      return openIfSupported(new MongoFormsStore(url, options))
    },
  })

/**
 * Migrates a store to this release. Idempotent, and safe while other processes use the store.
 *
 * @param onStep receives the progress on MongoDB.
 */
export const migrateFormsStore = (url: string, onStep?: (step: MigrationStep) => void): Promise<Migration> =>
  byScheme<Promise<Migration>>('forms', url, {
    sqlite: async () => {
      await new SqliteFormsStore(sqlitePath(url), { clears: false }).close()
      return { engine: 'SQLite', version: migrations.length }
    },
    mongodb: async () => {
      const { migrateMongodb } = await import('@fms/store-kit/mongodb')
      const { formsSchema } = await import('./mongodb/schema.ts')
      return migrateMongodb(url, formsSchema, { onStep })
    },
  })

/** Whether the URL has a forms store. Changes nothing. */
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
