import { join } from 'node:path'
import { ApiError } from '@fms/aip'
import {
  type ApiKey,
  apiKeyNotFound,
  type DirectoryStore,
  openDirectoryStore,
  organizationNotFound,
  type StoredOrganization,
  type User,
  userNotFound,
} from '@fms/directory-store'
import { type FormsStore, openFormsStore } from '@fms/forms-store'
import { findSampleSecrets, sampleRefusal } from '@fms/service-kit/settings'
import type { Command } from '../cli/command.ts'
import { printOutcome, type Work } from '../cli/outcome.ts'
import { fileOf, type NamedStore, requireStore } from './require-store.ts'

/** The data folder of `npm start`. */
export const dataDir = ({ DATA_DIR }: NodeJS.ProcessEnv): string => DATA_DIR || '.data'

/** The store URLs of the environment. Default: the files of `npm start` in `DATA_DIR`. */
export const storeUrls = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, ...env }: NodeJS.ProcessEnv) => {
  const file = (name: string) => `sqlite:${join(dataDir(env), name)}`
  return {
    directory: DIRECTORY_STORE_URL || file('directory.db'),
    forms: FORMS_STORE_URL || file('forms.db'),
  }
}

/** @throws {Error} if a URL contains a sample password of `.env.example`, outside development. */
export const namedStores = (env: NodeJS.ProcessEnv): { directory: NamedStore; forms: NamedStore } => {
  const [sample] = findSampleSecrets(env, ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL'])
  if (sample) throw new Error(`${sample} ${sampleRefusal}.`)
  const { directory, forms } = storeUrls(env)
  const or = 'or DATA_DIR if it is not set'
  return {
    directory: { name: 'directory', url: directory, setting: `DIRECTORY_STORE_URL, ${or}` },
    forms: { name: 'forms', url: forms, setting: `FORMS_STORE_URL, ${or}` },
  }
}

export const withoutPassword = (url: string) => url.replace(/\/\/[^/]*@/, '//')

/** Runs `work`, and adds the store's name and URL to the error if the store is unreachable, or its file cannot be opened. */
export const withStoreName = async <T>(store: NamedStore, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'STORE_UNAVAILABLE') throw unreachable(store, error)
    const file = fileOf(store)
    if (file === undefined || !isOfFile(error, file)) throw error
    throw new Error(
      `The ${store.name} store at ${file} cannot be created or opened (${error.message}). Check ${store.setting}.`,
      { cause: error },
    )
  }
}

/** Whether SQLite failed, or the operating system at the file or a folder above it. */
const isOfFile = (error: unknown, file: string): error is Error => {
  const { code, path } = error as NodeJS.ErrnoException
  return code === 'ERR_SQLITE_ERROR' || (path !== undefined && file.startsWith(path))
}

const unreachable = ({ name, url, setting }: NamedStore, error: ApiError): Error => {
  const { cause } = error.parts
  const reason = cause instanceof Error ? ` (${cause.message})` : ''
  return new Error(
    `The ${name} store at ${withoutPassword(url)} cannot be reached${reason}. Check ${setting}, and that the store runs.`,
    { cause: error },
  )
}

/** How long MongoDB may work on a request of a command, in milliseconds. A command has no caller with a time limit. */
export const commandTimeoutMs = 60_000

export const openDirectory = (): Promise<DirectoryStore> =>
  openNamed(namedStores(process.env).directory, (url) =>
    openDirectoryStore(url, undefined, { timeoutMs: commandTimeoutMs }),
  )

/** Opens the forms store of the environment. @param options `isCreated` creates a SQLite file that is missing. */
export const openForms = ({ isCreated = false } = {}): Promise<FormsStore> =>
  openNamed(
    namedStores(process.env).forms,
    (url) => openFormsStore(url, { timeoutMs: commandTimeoutMs }),
    isCreated,
  )

interface Store extends AsyncDisposable {
  ping(): Promise<void>
}

/** @throws {Error} that names the store and its variable if it is missing or cannot be opened. */
const openNamed = async <S extends Store>(
  named: NamedStore,
  open: (url: string) => Promise<S>,
  isCreated = false,
): Promise<S> => {
  if (!isCreated) requireStore(named)
  const store = await open(named.url).catch((cause: unknown) => {
    // The message of an ApiError says what to do.
    if (cause instanceof ApiError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    const file = fileOf(named)
    const store = `${named.name} store${file ? ` at ${file}` : ''}`
    throw new Error(`The ${store} cannot be opened. Check ${named.setting}. ${reason}`, { cause })
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

/** @param ref an id or an e-mail address. @throws {ApiError} USER_NOT_FOUND */
export const getUserByRef = async (directory: DirectoryStore, ref: string): Promise<User> => {
  const user = await directory.findUser(ref)
  if (!user) throw userNotFound(ref)
  return user
}

/** @param ref an id or a slug. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const getOrganizationByRef = async (
  directory: DirectoryStore,
  ref: string,
): Promise<StoredOrganization> => {
  const organization = await directory.findOrganization(ref)
  if (!organization) throw organizationNotFound(ref)
  return organization
}

/** @throws {ApiError} API_KEY_NOT_FOUND */
export const getKeyById = async (directory: DirectoryStore, id: string): Promise<ApiKey> => {
  const key = (await directory.listKeys()).find(({ keyId }) => keyId === id.toLowerCase())
  if (!key) throw apiKeyNotFound(id)
  return key
}

/** @param ref an id or a slug. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const findOrganizationId = async (ref: string): Promise<string> => {
  await using directory = await openDirectory()
  return (await getOrganizationByRef(directory, ref)).organizationId
}

/** @returns undefined for undefined. @throws {ApiError} ORGANIZATION_NOT_FOUND */
export const findOptionalOrganizationId = async (ref: string | undefined): Promise<string | undefined> =>
  ref === undefined ? undefined : findOrganizationId(ref)

/** Makes the action of a command: opens the directory, runs `work`, and prints its outcome. */
export const withDirectory = <Options extends object>(work: Work<DirectoryStore, Options>) =>
  async function (this: Command): Promise<void> {
    await using directory = await openDirectory()
    const outcome = await withStoreName(namedStores(process.env).directory, () =>
      work(directory, this.optsWithGlobals<Options>(), this.args, this),
    )
    printOutcome(this, outcome)
  }

export const withForms = async <T>(work: (store: FormsStore) => Promise<T>): Promise<T> => {
  await using store = await openForms()
  return await withStoreName(namedStores(process.env).forms, () => work(store))
}
