import { DatabaseSync } from 'node:sqlite'
import { byScheme } from '@fms/store-kit'
import { migrateMongodb } from '@fms/store-kit/mongodb'

/**
 * Migrates a store to version 999 of its schema, which only releases with version 999 or later can use.
 *
 * @param store name of the store in the schema versions of MongoDB.
 */
export const migrateBeyondThisRelease = (url: string, store: 'directory' | 'forms') =>
  byScheme<Promise<unknown>>(store, url, {
    sqlite: async (path) => {
      using database = new DatabaseSync(path, { timeout: 5_000 })
      // Lists of this release require this index by name.
      if (store === 'forms') database.exec('DROP INDEX forms_by_default')
      database.exec('UPDATE schemaNote SET oldestVersion = 999; PRAGMA user_version = 999')
    },
    mongodb: () => migrateMongodb(url, { store, version: 999, oldestVersion: 999, indexes: [] }),
  })
