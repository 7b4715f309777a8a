import {
  type Client,
  createClient,
  createSession,
  FormsApiError,
  isReason,
  type Key,
  type Membership,
} from '@fms/client'
import { signal } from '@preact/signals'
import { goTo, route } from '../routing/navigation.ts'
import { texts } from '../texts.ts'

/** The signed-in user: a key, and what it gives access to. */
export interface Session {
  apiKey: string
  client: Client
  key: Key
  /** `users/{user_id}` */
  userPath: string
  email: string
  memberships: Membership[]
  /** Whether the key is that of a login link: signing out revokes it. */
  isTemporary: boolean
}

/** Where the key is kept: until the tab is closed, and for this tab alone. */
const storageKey = 'fms-console-key'

/** Undefined before the sign-in. */
export const session = signal<Session | undefined>(undefined)

/** Whether the last request reached the service. */
export const isConnected = signal(true)

/**
 * What somebody has to know about the end of the last session: the service rejected its key, which was revoked or has
 * expired; or the key of a login link could not be revoked.
 */
export const lastEnd = signal<'rejected' | 'not-revoked' | undefined>(undefined)

/** The base URL of the API. The page is below it, at `console`. */
export const baseUrl = location.origin + location.pathname.replace(/\/console\/?(index\.html)?$/, '')

/** A login link that nobody has agreed to yet. Its code was not used. */
export interface OfferedLink {
  code: string
  /** Of the user of the link. */
  email: string
}

/** A link that was opened without a session, or during that of another user: somebody has to choose. */
export const offeredLink = signal<OfferedLink | undefined>(undefined)

/** Signs in with a key. @throws {FormsApiError} API_KEY_INVALID */
export const signIn = async (apiKey: string, isTemporary = false): Promise<void> =>
  begin(await sessionOf(apiKey, isTemporary))

/**
 * Signs in with the one-time code of a login link of the present user. Otherwise it sets `offeredLink`: a link may be that of
 * somebody who wants to see what is typed here.
 *
 * @throws {FormsApiError} LOGIN_CODE_INVALID
 */
export const openLoginLink = async (code: string): Promise<void> => {
  const { user } = await createSession({ baseUrl }, code, { validateOnly: true })
  if (user.path === session.value?.userPath) await signInWithCode(code)
  else offeredLink.value = { code, email: user.email }
}

/**
 * Signs in with the one-time code of a login link, and revokes the key of the present session if it came from one.
 *
 * @throws {FormsApiError} LOGIN_CODE_INVALID
 */
export const signInWithCode = async (code: string): Promise<void> => {
  const { secret } = await createSession({ baseUrl }, code)
  const next = await sessionOf(secret, true)
  const former = session.value
  // The page may be one of an organization that the other user does not belong to.
  if (former?.userPath !== next.userPath && route.value.page !== 'home') goTo({ page: 'home' })
  begin(next)
  if (former) await revokeTemporaryKey(former)
}

const sessionOf = async (apiKey: string, isTemporary: boolean): Promise<Session> => {
  const client = clientOf(apiKey)
  const { user, key, memberships } = await client.whoami()
  return { apiKey, client, key, userPath: user.path, email: user.email, memberships, isTemporary }
}

const begin = (next: Session): void => {
  const { apiKey, isTemporary } = next
  sessionStorage.setItem(storageKey, JSON.stringify({ apiKey, isTemporary }))
  lastEnd.value = undefined
  session.value = next
}

/** Revokes the key of a session that a login link began. @throws {Error} for people, if the key may still work */
const revokeTemporaryKey = async ({ client, key, isTemporary }: Session): Promise<void> => {
  if (!isTemporary) return
  try {
    await client.keys.delete(key.path)
  } catch (cause) {
    if (!isReason(cause, 'API_KEY_INVALID')) throw new Error(texts.loginLink.notRevoked, { cause })
  }
}

/** Continues the session of this tab after a reload. Its key is kept unless the service rejects it. */
export const resumeSession = async (): Promise<void> => {
  const stored = sessionStorage.getItem(storageKey)
  if (stored === null) return
  const { apiKey, isTemporary } = JSON.parse(stored)
  try {
    await signIn(apiKey, isTemporary)
  } catch (error) {
    if (error instanceof FormsApiError && error.code === 401) forgetSession()
    throw error
  }
}

/** Ends the session in this tab, and revokes its key if it came from a login link. */
export const signOut = async (): Promise<void> => {
  const ended = session.value!
  forgetSession()
  try {
    await revokeTemporaryKey(ended)
  } catch {
    lastEnd.value = 'not-revoked'
  }
}

/** Ends the session in this tab. The key stays as it is. */
export const forgetSession = (): void => {
  sessionStorage.removeItem(storageKey)
  session.value = undefined
}

/** What the user is in an organization. @param ref its slug, or its id in any letter case */
export const membershipIn = ({ memberships }: Session, ref: string): Membership | undefined =>
  memberships.find(({ organization: { slug, path } }) =>
    [slug, path.split('/')[1]].includes(ref.toLowerCase()),
  )

/** Whether the user may change forms of an organization. @param ref its slug or id */
export const mayWriteIn = (session: Session, ref: string): boolean => {
  const role = membershipIn(session, ref)?.role
  return !session.key.readOnly && role !== undefined && role !== 'viewer'
}

/** Whether the user may remove deleted forms of an organization for good. @param ref its slug or id */
export const mayPurgeIn = (session: Session, ref: string): boolean =>
  !session.key.readOnly && membershipIn(session, ref)?.role === 'owner'

const clientOf = (apiKey: string): Client =>
  createClient({
    baseUrl,
    apiKey,
    maxRetries: 2,
    fetch: async (url, init) => {
      const response = await reached(fetch(url, init))
      if (response.status === 401 && session.value?.apiKey === apiKey) {
        lastEnd.value = 'rejected'
        forgetSession()
      }
      return response
    },
  })

/** Notes whether a request reached the service. */
const reached = async (response: Promise<Response>): Promise<Response> => {
  try {
    const arrived = await response
    isConnected.value = true
    return arrived
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) isConnected.value = false
    throw error
  }
}

addEventListener('offline', () => {
  isConnected.value = false
})
addEventListener('online', () => {
  isConnected.value = true
})
