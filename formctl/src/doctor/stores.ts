import { ApiError } from '@fms/aip'
import { inspectDirectoryStore } from '@fms/directory-store'
import { inspectFormsStore } from '@fms/forms-store'
import type { StoreState } from '@fms/store-kit'
import { storeUrls } from '../stores/store-urls.ts'
import { type Check, fail, ok, reasonOf, warn } from './check.ts'
import { checkClock } from './clock.ts'
import { checkRelay } from './relay.ts'
import { checkRevisions } from './revisions.ts'
import { checkTransactionLifetime } from './transaction-lifetime.ts'

export const checkStores = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const urls = storeUrls(env)
  const [directory, forms] = await Promise.all([
    checkStore('directory store', 'DIRECTORY_STORE_URL', () => inspectDirectoryStore(urls.directory)),
    checkStore('forms store', 'FORMS_STORE_URL', () => inspectFormsStore(urls.forms)),
  ])
  const exists = forms.every(({ status, message }) => status !== 'fail' && message !== missing)
  if (!exists) return [...directory, ...forms]
  const content = await Promise.all([checkRelay(urls.forms, new Date()), checkRevisions(urls.forms)])
  return [...directory, ...forms, ...content]
}

const missing = 'does not exist yet'

const checkStore = async (
  check: string,
  variable: string,
  inspect: () => Promise<StoreState | undefined>,
): Promise<Check[]> => {
  try {
    const requestedMs = Date.now()
    const state = await inspect()
    if (!state) {
      return [warn(check, missing, 'npm start or formctl migrate creates it.')]
    }
    const { time, transactionLifetime } = state
    return [
      checkStoreState(check, state),
      ...(time ? [checkClock(`the ${check}`, time, requestedMs, Date.now())] : []),
      ...(transactionLifetime ? [checkTransactionLifetime(`the ${check}`, transactionLifetime)] : []),
    ]
  } catch (error) {
    const advice = `Check ${variable} (or DATA_DIR, if it is not set), and that the store runs.`
    return [fail(check, reasonOf(error), isNotSupported(error) ? error.parts.advice! : advice)]
  }
}

/** The advice of this error is the commands that set the server up. */
const isNotSupported = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.reason === 'STORE_NOT_SUPPORTED'

export const checkStoreState = (check: string, state: StoreState): Check => {
  const { engine, engineVersion, version, oldestVersion, neededVersion, refusesWrites } = state
  const message = `${engine} ${engineVersion}, schema ${version} for releases with ${oldestVersion} or later`
  if (neededVersion < oldestVersion) {
    const advice = 'Run the newer release, or restore the backup from before the upgrade.'
    return fail(check, `${message}; this one has ${neededVersion}`, advice)
  }
  if (version < neededVersion) {
    return fail(check, `${message}; this release needs ${neededVersion}`, 'Run formctl migrate.')
  }
  if (refusesWrites) {
    const advice = 'Check the permissions of the file or user, the disk, and which process holds a lock.'
    return fail(check, `${message}; rejects writes: ${refusesWrites}`, advice)
  }
  if (version > neededVersion) {
    const advice = 'Run the newer release everywhere.'
    return warn(check, `${message}; a newer release migrated it, this one has ${neededVersion}`, advice)
  }
  return ok(check, `${message}, accepts writes`)
}
