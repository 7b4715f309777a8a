import { ApiError } from '@fms/aip'
import { type DirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { type FormsStore, openFormsStore } from '@fms/forms-store'
import { type NamedStore, namingStore } from './naming-store.ts'
import { namedStores } from './store-urls.ts'

/**
 * The directory that the environment names.
 *
 * @throws {Error} naming the store and its variable where it cannot be opened.
 */
export const openDirectory = (): Promise<DirectoryStore> =>
  opened(namedStores(process.env).directory, openDirectoryStore)

/**
 * The forms store that the environment names.
 *
 * @throws {Error} naming the store and its variable where it cannot be opened.
 */
export const openForms = (): Promise<FormsStore> => opened(namedStores(process.env).forms, openFormsStore)

interface Store extends AsyncDisposable {
  ping(): Promise<void>
}

const opened = async <S extends Store>(named: NamedStore, open: (url: string) => Promise<S>): Promise<S> => {
  const store = await open(named.url).catch((cause: unknown) => {
    // It says itself what to do.
    if (cause instanceof ApiError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The ${named.name} store cannot be opened. Check ${named.setting}. ${reason}`, { cause })
  })
  try {
    // Without its indexes a store would let e-mail addresses and slugs be taken twice.
    await namingStore(named, () => store.ping())
    return store
  } catch (error) {
    await store[Symbol.asyncDispose]()
    throw error
  }
}
