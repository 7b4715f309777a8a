import { sqlitePath } from '@fms/store-kit'
import type { DirectoryStore } from './directory-store.ts'
import { SqliteDirectoryStore } from './sqlite/directory-store.ts'

/**
 * Opens the directory store that a URL names, and makes it when it is missing.
 *
 * @param url `sqlite:PATH`, relative to the current directory, or `sqlite::memory:`.
 * @param now the clock that createTimes come from.
 */
export const openDirectoryStore = async (url: string, now = () => new Date()): Promise<DirectoryStore> => {
  if (url.startsWith('sqlite:')) return new SqliteDirectoryStore(sqlitePath(url), now)
  // Not the whole URL: it may hold a password.
  throw new Error(`No directory store for "${url.split(':')[0]}:" URLs. Use sqlite:PATH.`)
}
