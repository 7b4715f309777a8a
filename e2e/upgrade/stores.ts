import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongo } from '@fms/testkit/mongodb'
import type { Release } from './last-release.ts'

/** Stores with the schema of a release. */
export interface Stores extends AsyncDisposable {
  urls: { DIRECTORY_STORE_URL: string; FORMS_STORE_URL: string }
  /** The function of the release. */
  openDirectoryStore: typeof import('@fms/directory-store').openDirectoryStore
}

/** Creates stores and migrates them to the schema of a release. */
export const openStores = async (engine: 'SQLite' | 'MongoDB', release: Release): Promise<Stores> => {
  await using opening = new AsyncDisposableStack()
  const urls = engine === 'SQLite' ? await openFiles(opening) : await openDatabase(opening)
  const source = (lib: string) => join(release.folder, 'libs', lib, 'src/index.ts')
  const directory: typeof import('@fms/directory-store') = await import(source('directory-store'))
  const forms: typeof import('@fms/forms-store') = await import(source('forms-store'))
  await directory.migrateDirectoryStore(urls.DIRECTORY_STORE_URL)
  await forms.migrateFormsStore(urls.FORMS_STORE_URL)
  const opened = opening.move()
  return {
    urls,
    openDirectoryStore: directory.openDirectoryStore,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const openFiles = async (opening: AsyncDisposableStack) => {
  const { path } = opening.use(await mkdtempDisposable(join(tmpdir(), 'upgrade-')))
  return {
    DIRECTORY_STORE_URL: `sqlite:${join(path, 'directory.db')}`,
    FORMS_STORE_URL: `sqlite:${join(path, 'forms.db')}`,
  }
}

const openDatabase = async (opening: AsyncDisposableStack) => {
  const { url } = opening.use(await startMongo())
  return { DIRECTORY_STORE_URL: url, FORMS_STORE_URL: url }
}
