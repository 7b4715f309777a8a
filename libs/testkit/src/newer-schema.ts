import { DatabaseSync } from 'node:sqlite'
import { sqlitePath } from '@fms/store-kit'
import { migrateMongodb } from '@fms/store-kit/mongodb'

/**
 * Migrates a store to version 999 of its schema, which only releases with version 999 or later can use.
 *
 * @param store name of the store in the schema versions of MongoDB.
 */
export const migrateBeyondThisRelease = async (url: string, store: 'directory' | 'forms'): Promise<void> => {
  if (!url.startsWith('sqlite:')) {
    await migrateMongodb(url, { store, version: 999, oldestVersion: 999, indexes: [] })
    return
  }
  using database = new DatabaseSync(sqlitePath(url), { timeout: 5_000 })
  // Lists of this release require this index by name.
  if (store === 'forms') database.exec('DROP INDEX forms_by_default')
  database.exec('UPDATE schemaNote SET oldestVersion = 999; PRAGMA user_version = 999')
}
