import { ApiError } from '@fms/aip'
import { type DirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { type FormsStore, openFormsStore } from '@fms/forms-store'
import { type NamedStore, withStoreName } from './named-store.ts'
import { namedStores } from './store-urls.ts'

/** How long MongoDB may work on a request of a command, in milliseconds. A command has no caller with a time limit. */
export const commandTimeoutMs = 60_000

/**
 * Opens the directory store of the environment.
 *
 * @throws {Error} that names the store and its variable if it cannot be opened.
 */
export const openDirectory = (): Promise<DirectoryStore> =>
  openNamed(namedStores(process.env).directory, (url) =>
    openDirectoryStore(url, undefined, { timeoutMs: commandTimeoutMs }),
  )

/**
 * Opens the forms store of the environment.
 *
 * @throws {Error} that names the store and its variable if it cannot be opened.
 */
export const openForms = (): Promise<FormsStore> =>
  openNamed(namedStores(process.env).forms, (url) => openFormsStore(url, { timeoutMs: commandTimeoutMs }))

interface Store extends AsyncDisposable {
  ping(): Promise<void>
}

const openNamed = async <S extends Store>(
  named: NamedStore,
  open: (url: string) => Promise<S>,
): Promise<S> => {
  const store = await open(named.url).catch((cause: unknown) => {
    // The message of an ApiError says what to do.
    if (cause instanceof ApiError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The ${named.name} store cannot be opened. Check ${named.setting}. ${reason}`, { cause })
  })
  try {
    // Rejects a store without indexes, which would accept duplicate e-mail addresses and slugs.
    await withStoreName(named, () => store.ping())
    return store
  } catch (error) {
    await store[Symbol.asyncDispose]()
    throw error
  }
}
