import { ApiError } from '@fms/aip'
import { inspectDirectoryStore } from '@fms/directory-store'
import {
  type EventBacklog,
  type FormRevisions,
  type FormsStore,
  inspectFormsStore,
  manyRevisions,
  maxCountedRevisions,
  openFormsStore,
} from '@fms/forms-store'
import type { StoreState } from '@fms/store-kit'
import { storeUrls } from '../stores/open-stores.ts'
import { adviceFor, fileOf } from '../stores/require-store.ts'
import { type Check, checkClock, fail, ok, reasonOf, warn } from './check.ts'

export const checkStores = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const urls = storeUrls(env)
  const [directory, forms] = await Promise.all([
    checkStore('directory store', 'DIRECTORY_STORE_URL', urls.directory, inspectDirectoryStore),
    checkStore('forms store', 'FORMS_STORE_URL', urls.forms, inspectFormsStore),
  ])
  const exists = forms.every(({ status, message }) => status !== 'fail' && !message.startsWith(missing))
  if (!exists) return [...directory, ...forms]
  const content = await Promise.all([
    checkContent('relay of events', urls.forms, async ({ events }) =>
      relayCheck(await events.backlog(), new Date()),
    ),
    checkContent('revisions', urls.forms, async ({ revisionGrowth }) =>
      revisionsCheck(await revisionGrowth.formsWithMany(maxForms + 1)),
    ),
  ])
  return [...directory, ...forms, ...content]
}

const checkContent = async (
  check: string,
  formsUrl: string,
  work: (store: FormsStore) => Promise<Check>,
): Promise<Check> => {
  try {
    await using store = await openFormsStore(formsUrl, { readOnly: true })
    return await work(store)
  } catch (error) {
    return fail(check, `not checked: ${reasonOf(error)}`, 'Check the forms store first.')
  }
}

const missing = 'does not exist yet'

const checkStore = async (
  check: string,
  variable: string,
  url: string,
  inspect: (url: string) => Promise<StoreState | undefined>,
): Promise<Check[]> => {
  try {
    const requestedMs = Date.now()
    const state = await inspect(url)
    if (!state) {
      const path = fileOf({ url })
      if (path) return [warn(check, `${missing} at ${path}`, adviceFor(path))]
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

const relayWarnMs = 60_000

/** How far the publishers are behind in moving events to the stream. */
export const relayCheck = ({ pending, unstreamed, oldestTime }: EventBacklog, now: Date): Check => {
  const behind = pending + unstreamed
  if (behind === 0 || !oldestTime) return ok('relay of events', 'is up to date')
  const ageMs = Math.max(0, now.getTime() - oldestTime.getTime())
  const message = `${behind} events wait, the oldest for ${Math.floor(ageMs / 1_000)} s`
  if (ageMs <= relayWarnMs) return ok('relay of events', message)
  const advice =
    pending > 0 ? 'Until then, they are missing in the log, too.' : 'The log of the API has them.'
  return warn('relay of events', message, `Start a publisher, and check that it reaches NATS. ${advice}`)
}

/** How many forms the message names. */
const maxForms = 5

/** @param forms with more than 10,000 revisions; one more than the message names if there are more. */
export const revisionsCheck = (forms: FormRevisions[]): Check => {
  const limit = manyRevisions.toLocaleString('en')
  if (forms.length === 0) return ok('revisions', `no form has more than ${limit}`)
  const names = forms.slice(0, maxForms).map(describe)
  const message = `${forms.length > maxForms ? 'many forms' : 'forms'} have more than ${limit}: ${names.join('; ')}`
  return warn(
    'revisions',
    message,
    'Delete old revisions with formctl revisions prune; begin with --dry-run.',
  )
}

const describe = ({ organizationId, publicId, revisions }: FormRevisions): string => {
  const count = revisions.toLocaleString('en')
  return `${publicId} of organization ${organizationId} (${count}${revisions === maxCountedRevisions ? ' or more' : ''})`
}

/** A killed process keeps its documents locked for at most this long, in seconds. */
const maxSeconds = 5

const parameter = 'transactionLifetimeLimitSeconds'

const setParameter = `Run on each member: mongosh --eval 'db.adminCommand({ setParameter: 1, ${parameter}: ${maxSeconds} })', and start mongod with --setParameter ${parameter}=${maxSeconds}.`

/** Checks after how many seconds MongoDB aborts a transaction that a killed process left open. */
export const checkTransactionLifetime = (
  store: string,
  lifetime: NonNullable<StoreState['transactionLifetime']>,
): Check => {
  const check = `transactions of ${store}`
  if (lifetime === 'forbidden') {
    return warn(
      check,
      `not checked: the user must not read ${parameter}`,
      `Give the user of formctl the role clusterMonitor. ${setParameter}`,
    )
  }
  if (lifetime === 'not reported') return ok(check, `not checked: the server does not report ${parameter}`)
  if (lifetime <= maxSeconds) return ok(check, `a killed process locks forms for at most ${lifetime} s`)
  return warn(check, `a killed process locks forms for up to ${lifetime} s`, setParameter)
}
