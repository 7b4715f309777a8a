import { DatabaseSync } from 'node:sqlite'
import { sqlitePath } from '@fms/store-kit'
import { migrateMongodb } from '@fms/store-kit/mongodb'

/**
 * Migrates a store as a later release does whose schema earlier ones cannot use: version 999 of it, for releases with
 * 999 or later.
 *
 * @param store its name in MongoDB's notes.
 */
export const migrateBeyondThisRelease = async (url: string, store: 'directory' | 'forms'): Promise<void> => {
  if (!url.startsWith('sqlite:')) {
    await migrateMongodb(url, { store, version: 999, oldestVersion: 999, indexes: [] })
    return
  }
  using database = new DatabaseSync(sqlitePath(url), { timeout: 5_000 })
  // Lists name the index.
  if (store === 'forms') database.exec('DROP INDEX forms_by_default')
  database.exec('UPDATE schemaNote SET oldestVersion = 999; PRAGMA user_version = 999')
}
