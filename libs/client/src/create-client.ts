import { type DeletedForms, deletedFormsOf } from './deleted-forms.ts'
import { type Events, eventsOf } from './events/events.ts'
import { type Forms, formsOf } from './forms.ts'
import { type Keys, keysOf } from './keys.ts'
import { type Organizations, organizationsOf } from './organizations.ts'
import { pathOf } from './references.ts'
import { type Revisions, revisionsOf } from './revisions.ts'
import type { Whoami } from './schemas.generated.ts'
import { type CallOptions, type ClientOptions, type Clock, createTransport } from './transport.ts'

/** A client of the form-management API, with the key of one user. */
export interface Client {
  organizations: Organizations
  forms: Forms
  deletedForms: DeletedForms
  revisions: Revisions
  events: Events
  keys: Keys
  /** The user of the client's key, the key, and the user's memberships. */
  whoami(options?: CallOptions): Promise<Whoami>
}

/**
 * Creates a client. It opens no connection before its first call.
 *
 * @param clock replaces timers and random numbers in tests.
 * @throws {TypeError} for a `baseUrl` or `apiKey` that is invalid in a request.
 */
export const createClient = (
  options: ClientOptions,
  clock: Clock = { sleep, random: Math.random },
): Client => {
  const transport = createTransport(options, clock)
  return {
    organizations: organizationsOf(transport),
    forms: formsOf(transport),
    deletedForms: deletedFormsOf(transport),
    revisions: revisionsOf(transport),
    events: eventsOf(transport),
    keys: keysOf(transport),
    whoami: async ({ signal } = {}) =>
      (await transport.send<Whoami>({ method: 'GET', path: pathOf(['whoami']), signal })).body,
  }
}

/** Waits by a timer. */
export const sleep: Clock['sleep'] = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
