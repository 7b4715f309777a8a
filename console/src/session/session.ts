import { type Client, createClient, type Organization } from '@fms/client'
import { signal } from '@preact/signals'

/** What a user may do in an organization. */
export interface Membership {
  organization: Organization
  role: 'viewer' | 'editor' | 'owner'
}

/** The signed-in user: a key, and what it gives access to. */
export interface Session {
  apiKey: string
  client: Client
  /** `users/{user_id}` */
  userPath: string
  /** Whether the key rejects writes, whatever the role of its user. */
  isReadOnly: boolean
  memberships: Membership[]
}

/** Where the key is kept: until the tab is closed, and for this tab alone. */
const storageKey = 'fms-console-key'

/** Undefined before the sign-in. */
export const session = signal<Session | undefined>(undefined)

/** Whether the last request reached the service. */
export const isConnected = signal(true)

/** Whether the service has rejected the key of the last session: it was revoked or has expired. */
export const wasRejected = signal(false)

/** The base URL of the API. The page is below it, at `console`. */
export const baseUrl = location.origin + location.pathname.replace(/\/console\/?(index\.html)?$/, '')

/** Signs in with a key. @throws {FormsApiError} API_KEY_INVALID */
export const signIn = async (apiKey: string): Promise<void> => {
  const client = clientOf(apiKey)
  const organizations = await client.organizations.all()
  sessionStorage.setItem(storageKey, apiKey)
  wasRejected.value = false
  session.value = {
    apiKey,
    client,
    userPath: '',
    isReadOnly: false,
    memberships: organizations.map((organization) => ({ organization, role: 'owner' })),
  }
}

/** Continues the session of this tab after a reload. */
export const resumeSession = async (): Promise<void> => {
  const apiKey = sessionStorage.getItem(storageKey)
  if (apiKey !== null) await signIn(apiKey)
}

/** Ends the session in this tab. */
export const signOut = async (): Promise<void> => {
  sessionStorage.removeItem(storageKey)
  session.value = undefined
}

/** Whether the user may change forms of an organization. @param ref its slug or id */
export const mayWriteIn = ({ isReadOnly, memberships }: Session, ref: string): boolean => {
  const membership = memberships.find(({ organization: { slug, path } }) =>
    [slug, path.split('/')[1]].includes(ref),
  )
  return !isReadOnly && membership !== undefined && membership.role !== 'viewer'
}

const clientOf = (apiKey: string): Client =>
  createClient({
    baseUrl,
    apiKey,
    maxRetries: 2,
    fetch: async (url, init) => {
      const response = await reached(fetch(url, init))
      if (response.status === 401 && session.value?.apiKey === apiKey) {
        wasRejected.value = true
        sessionStorage.removeItem(storageKey)
        session.value = undefined
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
