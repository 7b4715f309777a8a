import { byScheme, type Migration, openUnlessTooNew, sqliteHolds, sqlitePath } from '@fms/store-kit'
import type { DirectoryStore } from './directory-store.ts'
import { SqliteDirectoryStore } from './sqlite/directory-store.ts'
import { migrations } from './sqlite/schema.ts'

const systemClock = () => new Date()

/**
 * Opens the directory store that a URL names.
 *
 * @param url `sqlite:PATH`, relative to the current directory and made when it is missing, or `sqlite::memory:`; or
 *   `mongodb://…/DATABASE`, which {@link migrateDirectoryStore} has to have prepared.
 * @param now the clock that createTimes come from.
 * @param readOnly leaves a SQLite file untouched: it is neither made nor migrated.
 * @throws {ApiError} STORE_SCHEMA_TOO_NEW where a newer release has shut this one out.
 */
export const openDirectoryStore = async (
  url: string,
  now = systemClock,
  options: { readOnly?: boolean } = {},
): Promise<DirectoryStore> =>
  byScheme<Promise<DirectoryStore>>('directory', url, {
    sqlite: async () => new SqliteDirectoryStore(sqlitePath(url), now, options),
    mongodb: async () => {
      // A machine that has no use for the driver does not load it.
      const { MongoDirectoryStore } = await import('./mongodb/directory-store.ts')
      return openUnlessTooNew(new MongoDirectoryStore(url, now))
    },
  })

/** Makes whatever the store lacks; may run again, and while others use it. A SQLite file is migrated as it is opened. */
export const migrateDirectoryStore = (url: string): Promise<Migration> =>
  byScheme<Promise<Migration>>('directory', url, {
    sqlite: async () => {
      await new SqliteDirectoryStore(sqlitePath(url), systemClock).close()
      return { engine: 'SQLite', version: migrations.length }
    },
    mongodb: async () => {
      const { migrateMongodb } = await import('@fms/store-kit/mongodb')
      const { directorySchema } = await import('./mongodb/schema.ts')
      return migrateMongodb(url, directorySchema)
    },
  })

/** Whether a directory was ever made there. Changes nothing. */
export const holdsDirectoryStore = (url: string): Promise<boolean> =>
  byScheme<Promise<boolean>>('directory', url, {
    sqlite: async () => sqliteHolds(sqlitePath(url), 'members'),
    mongodb: async () => (await import('@fms/store-kit/mongodb')).mongodbHolds(url, 'directory'),
  })
