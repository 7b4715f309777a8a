import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A store with its name in error messages. */
export interface NamedStore {
  name: 'directory' | 'forms'
  url: string
  /** The variable or option that sets the URL. */
  setting: string
}

/** The path of a store that is a SQLite file; undefined for any other store. */
export const fileOf = ({ url }: Pick<NamedStore, 'url'>): string | undefined =>
  url.startsWith('sqlite:') && url !== 'sqlite::memory:' ? resolve(url.slice('sqlite:'.length)) : undefined

/**
 * Checks that a store is there, since opening a SQLite file that is missing would create an empty one.
 *
 * @throws {Error} that names the file, what sets it, and folders near it that have stores.
 */
export const requireStore = (store: NamedStore): void => {
  const path = fileOf(store)
  if (path === undefined || existsSync(path)) return
  throw new Error(`There is no ${store.name} store at ${path}. Check ${store.setting}. ${adviceFor(path)}`)
}

/** What to do about a file that is missing: folders near it that have stores, and what creates one. */
export const adviceFor = (path: string): string => {
  const near = foldersNear(dirname(path))
  const found = near.length > 0 ? `There are stores in ${near.join(' and ')}. ` : ''
  return `${found}npm start or formctl migrate creates a new store.`
}

/** How many folders a message names. */
const maxFolders = 3

/** Folders with a store: those above, in and beside a folder, then those of `npm start` and systemd. */
const foldersNear = (folder: string): string[] => {
  const around = [folder, dirname(folder)].flatMap((each) => [
    each,
    ...entriesOf(each).map((name) => join(each, name)),
  ])
  const candidates = new Set([...around, resolve('.data'), '/var/lib/form-management'])
  return [...candidates].filter(hasStore).slice(0, maxFolders)
}

const hasStore = (folder: string) =>
  ['directory.db', 'forms.db'].some((name) => existsSync(join(folder, name)))

/** The names in a folder; none if it cannot be read. */
const entriesOf = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
