import { anyPublished, draftOf, formIdOf, prefixOf, wordOf } from './forms.ts'

export const httpOperations = [
  'get',
  'get by one key',
  'live',
  'live 304',
  'list',
  'filtered list',
  'search',
  'create',
  'patch',
  'publish',
  'mix',
] as const
/** `large pages` is no row of its own: it shows what memory they take. */
export type Operation = (typeof httpOperations)[number] | 'large pages'

/** Where requests go, and what is there. */
export interface Place {
  /** Up to `/v2`, without a trailing slash. */
  baseUrl: string
  /** UUID of the organization whose forms are read and changed; their number stays the same. */
  organizationId: string
  /** UUID of the organization that new forms go to. */
  otherOrganizationId: string
  /** UUID of the organization whose forms fill pages of a list; the bare server has none. */
  largeOrganizationId?: string
  forms: number
  /** Of different users; each connection has one. */
  apiKeys: readonly string[]
  /** The product's filters, or the plain parameters of the bare server. */
  filter: 'aip-160' | 'plain'
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  /** With query. */
  path: string
  body?: string
  /** What `If-None-Match` says. */
  etag?: string
}

/** The shares of the mix, in percent. */
const mix = [
  ['get', 80],
  ['list', 10],
  ['patch', 5],
  ['publish', 5],
] as const

/** Live revisions whose ETags are known before `live 304` is measured. */
const knownRevisions = 64

const createBody = JSON.stringify({ form: draftOf(0) })

/** The one status that an operation may have. */
export const statusOf = (operation: Operation): number => (operation === 'live 304' ? 304 : 200)

/** @returns what makes one request after the other, each about a form taken by chance. */
export const requestsOf = async (operation: Operation, place: Place): Promise<() => Request> => {
  const root = new URL(place.baseUrl).pathname.replace(/\/$/, '')
  const formsOf = (organizationId: string) => `${root}/organizations/${organizationId}/forms`
  const forms = formsOf(place.organizationId)
  const any = () => Math.floor(Math.random() * place.forms)
  const anyForm = () => `${forms}/${formIdOf(any())}`
  const live = (): Request => ({
    method: 'GET',
    path: `${forms}/${formIdOf(anyPublished(place.forms))}/revisions/live`,
  })
  const list = (filter: string): Request => ({ method: 'GET', path: `${forms}?pageSize=10&${filter}` })
  const isPlain = place.filter === 'plain'
  const filter = (text: string) => `filter=${encodeURIComponent(text)}`

  const makers = {
    get: () => ({ method: 'GET', path: anyForm() }),
    'get by one key': () => ({ method: 'GET', path: anyForm() }),
    live,
    list: () => ({ method: 'GET', path: `${forms}?pageSize=10` }),
    'filtered list': () => {
      const prefix = prefixOf(any())
      return list(isPlain ? `namePrefix=${encodeURIComponent(prefix)}` : filter(`name = "${prefix}*"`))
    },
    search: () => {
      const word = wordOf(any())
      return list(isPlain ? `nameContains=${word}` : filter(`search("${word}")`))
    },
    create: () => ({ method: 'POST', path: formsOf(place.otherOrganizationId), body: createBody }),
    patch: () => ({
      method: 'PATCH',
      path: anyForm(),
      body: JSON.stringify({ form: { description: `Changed to ${Math.random()}` } }),
    }),
    publish: () => ({ method: 'POST', path: `${anyForm()}/publish`, body: '{}' }),
    'large pages': () => ({
      method: 'GET',
      path: `${formsOf(place.largeOrganizationId!)}?pageSize=1000`,
    }),
  } satisfies Record<Exclude<Operation, 'mix' | 'live 304'>, () => Request>

  if (operation === 'live 304')
    return pick(await withEtags(place, Array.from({ length: knownRevisions }, live)))
  if (operation !== 'mix') return makers[operation]
  const deck = mix.flatMap(([each, percent]) => Array<() => Request>(percent).fill(makers[each]))
  const next = pick(deck)
  return () => next()()
}

const pick =
  <T>(items: readonly T[]): (() => T) =>
  () =>
    items[Math.floor(Math.random() * items.length)]!

const withEtags = (place: Place, requests: readonly Request[]): Promise<Request[]> =>
  Promise.all(
    requests.map(async (request) => {
      const url = new URL(request.path, place.baseUrl)
      const { headers } = await fetch(url, { headers: headersOf(place.apiKeys[0]!, request) })
      const etag = headers.get('etag')
      if (!etag) throw new Error(`${request.path} has no ETag`)
      return { ...request, etag }
    }),
  )

export const headersOf = (apiKey: string, { body, etag }: Request): Record<string, string> => ({
  'x-api-key': apiKey,
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(etag !== undefined && { 'if-none-match': etag }),
})
