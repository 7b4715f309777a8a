import { type DeletedForms, deletedFormsOf } from './deleted-forms.ts'
import { type Events, eventsOf } from './events/events.ts'
import { type Forms, formsOf } from './forms.ts'
import { type Keys, type KeyWriteOptions, keysOf } from './keys.ts'
import { type Organizations, organizationsOf } from './organizations.ts'
import { type Revisions, revisionsOf } from './revisions.ts'
import type { Session, Whoami } from './schemas.generated.ts'
import { checkApiKey } from './transport/options.ts'
import { pathOf } from './transport/references.ts'
import type { Clock } from './transport/repeat.ts'
import { type CallOptions, type ClientOptions, createTransport } from './transport/transport.ts'

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

/** Creates a client. It opens no connection before its first call. @throws {TypeError} for a bad `baseUrl` or `apiKey`. */
export const createClient = (options: ClientOptions, clock?: Clock): Client => {
  checkApiKey(options.apiKey)
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

/**
 * Exchanges the one-time code of a login link, without a key. An executed exchange is not repeated.
 *
 * @param call `validateOnly` leaves the code valid: to ask `Sign in as …?`, since a link may be that of somebody else.
 * @returns a key that works for 12 hours, for {@link createClient}, and its user. Delete the key to sign out.
 * @throws {FormsApiError} LOGIN_CODE_INVALID for a wrong, used or expired code.
 */
export const createSession = async (
  options: Omit<ClientOptions, 'apiKey'>,
  code: string,
  { validateOnly, signal }: KeyWriteOptions = {},
): Promise<Session> => {
  const { send } = createTransport(options)
  const call = {
    method: 'POST',
    path: pathOf(['sessions']),
    body: { code, validateOnly },
    isIdempotent: validateOnly === true,
    signal,
  } as const
  return (await send<Session>(call)).body
}
