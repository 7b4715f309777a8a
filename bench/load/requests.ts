import { draftOf, formIdOf, prefixOf, randomPublished, wordOf } from './generated-forms.ts'

export const httpOperations = [
  'get',
  'get by one key',
  'live',
  'live 304',
  'list',
  'filtered list',
  'search',
  'full list of 1000',
  'light list of 1000',
  'create',
  'patch',
  'publish',
  'mix',
  'events',
] as const
/**
 * `events` measures how long after a patch its event is in the stream. `large pages` is not measured: it is only run to
 * see its effect on memory.
 */
export type Operation = (typeof httpOperations)[number] | 'large pages'

/** The server that requests are sent to, and the data that it has. */
export interface LoadTarget {
  /** Ends in `/v2`, without a trailing slash. */
  baseUrl: string
  /** UUID of the organization whose forms are read and changed. The number of its forms does not change. */
  organizationId: string
  /** UUID of the organization in which forms are created. */
  otherOrganizationId: string
  /** UUID of the organization with forms of 700 KB. The bare server has none. */
  largeOrganizationId?: string
  /** Number of forms of `organizationId`. */
  forms: number
  /** Keys of different users. Each connection uses one. */
  apiKeys: readonly string[]
  /** Syntax of filters: AIP-160, or the query parameters of the bare server. */
  filter: 'aip-160' | 'plain'
}

/** How long a load lasts, or how many requests it has. */
export type Amount = { seconds: number } | { amount: number }

/** HTTP requests. Each connection has one request in flight at a time. */
export interface HttpLoad {
  kind: 'http'
  operation: Operation
  target: LoadTarget
  connections: number
  /** Total over all connections. Default: as many as the server handles. */
  requestsPerSecond?: number
}

/** Messages to a work queue, each of which waits for its reply. */
export interface RoundTripLoad {
  kind: 'round trips'
  natsUrl: string
  inFlight: number
}

/** Changes at a steady rate, and how long after each response its event is in the stream. */
export interface EventsLoad {
  kind: 'events'
  target: LoadTarget
  /** NATS as the user `events`. */
  natsUrl: string
  changesPerSecond: number
  connections: number
}

export type Load = HttpLoad | RoundTripLoad | EventsLoad

export interface LoadResult {
  requests: number
  /** Duration of the whole load. */
  seconds: number
  /** Response time in milliseconds. */
  p50: number
  p99: number
  /** Responses with another status than the expected one, broken connections and timeouts. */
  failures: number
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  /** Path and query. */
  path: string
  body?: string
  /** Sent as `If-None-Match`. */
  etag?: string
}

/** Shares of the operations of the mix, in percent. */
const mix = [
  ['get', 80],
  ['list', 10],
  ['patch', 5],
  ['publish', 5],
] as const

/** Members that a list returns without reading a draft. */
const lightMask = 'path,publicId,publicUrl,name,type,createTime,updateTime,replyCount,live'

/** Number of live revisions whose ETags are read before `live 304` is measured. */
const knownRevisions = 64

const createBody = JSON.stringify({ form: draftOf(0) })

/** The only status that counts as a success of the operation. */
export const statusOf = (operation: Operation): number => (operation === 'live 304' ? 304 : 200)

/** Prepares an operation. @returns a function that makes a new request, for a random form, at each call. */
export const requestsOf = async (operation: Operation, target: LoadTarget): Promise<() => Request> => {
  const makers = requestMakers(target)
  if (operation === 'live 304')
    return pick(await withEtags(target, Array.from({ length: knownRevisions }, makers.live)))
  if (operation === 'events') return makers.patch
  if (operation !== 'mix') return makers[operation]
  const deck = mix.flatMap(([each, percent]) => Array<() => Request>(percent).fill(makers[each]))
  const next = pick(deck)
  return () => next()()
}

const requestMakers = (target: LoadTarget) => {
  const root = new URL(target.baseUrl).pathname.replace(/\/$/, '')
  const formsOf = (organizationId: string) => `${root}/organizations/${organizationId}/forms`
  const forms = formsOf(target.organizationId)
  const randomNumber = () => Math.floor(Math.random() * target.forms)
  const randomForm = () => `${forms}/${formIdOf(randomNumber())}`
  const live = (): Request => ({
    method: 'GET',
    path: `${forms}/${formIdOf(randomPublished(target.forms))}/revisions/live`,
  })
  const list = (filter: string): Request => ({ method: 'GET', path: `${forms}?pageSize=10&${filter}` })
  const isPlain = target.filter === 'plain'
  const filter = (text: string) => `filter=${encodeURIComponent(text)}`

  return {
    get: () => ({ method: 'GET', path: randomForm() }),
    'get by one key': () => ({ method: 'GET', path: randomForm() }),
    live,
    list: () => ({ method: 'GET', path: `${forms}?pageSize=10` }),
    'filtered list': () => {
      const prefix = prefixOf(randomNumber())
      return list(isPlain ? `namePrefix=${encodeURIComponent(prefix)}` : filter(`name = "${prefix}*"`))
    },
    search: () => {
      const word = wordOf(randomNumber())
      return list(isPlain ? `nameContains=${word}` : filter(`search("${word}")`))
    },
    'full list of 1000': () => ({ method: 'GET', path: `${forms}?pageSize=1000` }),
    'light list of 1000': () => ({ method: 'GET', path: `${forms}?pageSize=1000&readMask=${lightMask}` }),
    create: () => ({ method: 'POST', path: formsOf(target.otherOrganizationId), body: createBody }),
    patch: () => ({
      method: 'PATCH',
      path: randomForm(),
      body: JSON.stringify({ form: { description: `Changed to ${Math.random()}` } }),
    }),
    publish: () => ({ method: 'POST', path: `${randomForm()}/publish`, body: '{}' }),
    'large pages': () => ({
      method: 'GET',
      path: `${formsOf(target.largeOrganizationId!)}?pageSize=1000`,
    }),
  } satisfies Record<Exclude<Operation, 'mix' | 'live 304' | 'events'>, () => Request>
}

const pick =
  <T>(items: readonly T[]): (() => T) =>
  () =>
    items[Math.floor(Math.random() * items.length)]!

const withEtags = (target: LoadTarget, requests: readonly Request[]): Promise<Request[]> =>
  Promise.all(
    requests.map(async (request) => {
      const url = new URL(request.path, target.baseUrl)
      const { headers } = await fetch(url, { headers: headersOf(target.apiKeys[0]!, request) })
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
