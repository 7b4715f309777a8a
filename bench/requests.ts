import { draftOf, formIdOf, prefixOf } from './forms.ts'

export const httpOperations = ['get', 'list', 'filtered list', 'create', 'patch', 'publish', 'mix'] as const
export type Operation = (typeof httpOperations)[number]

/** Where requests go, and what is there. */
export interface Place {
  /** Up to `/v2`, without a trailing slash. */
  baseUrl: string
  /** UUID of the organization whose forms are read and changed; their number stays the same. */
  organizationId: string
  /** UUID of the organization that new forms go to. */
  otherOrganizationId: string
  forms: number
  apiKey: string
  /** The product's filter, or the plain parameter of the bare server. */
  filter: 'aip-160' | 'namePrefix'
}

export interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  /** With query. */
  path: string
  body?: string
}

/** The shares of the mix, in percent. */
const mix: [Exclude<Operation, 'mix'>, number][] = [
  ['get', 80],
  ['list', 10],
  ['patch', 5],
  ['publish', 5],
]

const createBody = JSON.stringify({ form: draftOf(0) })

/** @returns what makes one request after the other, each about a form taken by chance. */
export const requestsOf = (operation: Operation, place: Place): (() => Request) => {
  const root = new URL(place.baseUrl).pathname.replace(/\/$/, '')
  const formsOf = (organizationId: string) => `${root}/organizations/${organizationId}/forms`
  const forms = formsOf(place.organizationId)
  const others = formsOf(place.otherOrganizationId)
  const ids = Array.from({ length: place.forms }, (_, number) => formIdOf(number))
  const any = () => Math.floor(Math.random() * place.forms)
  const anyForm = () => `${forms}/${ids[any()]}`
  const filterOf = (prefix: string) =>
    place.filter === 'aip-160'
      ? `filter=${encodeURIComponent(`name = "${prefix}*"`)}`
      : `namePrefix=${encodeURIComponent(prefix)}`

  const makers: Record<Exclude<Operation, 'mix'>, () => Request> = {
    get: () => ({ method: 'GET', path: anyForm() }),
    list: () => ({ method: 'GET', path: `${forms}?pageSize=10` }),
    'filtered list': () => ({ method: 'GET', path: `${forms}?pageSize=10&${filterOf(prefixOf(any()))}` }),
    create: () => ({ method: 'POST', path: others, body: createBody }),
    patch: () => ({
      method: 'PATCH',
      path: anyForm(),
      body: JSON.stringify({ form: { description: `Changed to ${Math.random()}` } }),
    }),
    publish: () => ({ method: 'POST', path: `${anyForm()}/publish`, body: '{}' }),
  }
  if (operation !== 'mix') return makers[operation]
  const deck = mix.flatMap(([each, percent]) => Array<() => Request>(percent).fill(makers[each]))
  return () => deck[Math.floor(Math.random() * deck.length)]!()
}

export const headersOf = ({ apiKey }: Pick<Place, 'apiKey'>, { body }: Request): Record<string, string> => ({
  'x-api-key': apiKey,
  ...(body !== undefined && { 'content-type': 'application/json' }),
})
