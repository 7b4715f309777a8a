import { FormsApiError } from './errors.ts'
import type { CallOptions, Transport } from './transport/transport.ts'

export interface PageQuery extends CallOptions {
  /** Number of items per request, 1 to 1,000; default 100. Does not limit the length of the list. */
  pageSize?: number
  /** `nextPageToken` of an earlier page with the same filter and order: the list starts after that page. */
  pageToken?: string
  /** Number of items to skip at the start, 0 to 2147483647; default 0. */
  skip?: number
}

/** Items that are separated by commas. The compiler checks the first two. `Last` is what the last of these may be. */
type Listed<Item extends string, Last extends string = Item> =
  | Last
  | `${Item},${'' | ' '}${Last}`
  | `${Item},${'' | ' '}${Item},${string}`

/** An order by some of the fields, such as `name, updateTime desc` (AIP-132). */
export type OrderBy<Field extends string> = '' | Listed<Field | `${Field} ${'asc' | 'desc'}`>

export interface ListQuery<Field extends string> extends PageQuery {
  /** An expression such as `name = "Cust*" AND type = structured` (AIP-160). */
  filter?: string
  orderBy?: OrderBy<Field>
}

/** Paths of members of a resource, such as `name,theme.primaryColor`; `*` means all (AIP-157). At most 2,000 characters. */
export type ReadMask<T> = '*' | Listed<keyof T & string, MemberPath<keyof T & string>>

/** A member, or anything below it. */
type MemberPath<Name extends string> = Name | `${Name}.${string}`

/** The option of a read or list that returns only some members. */
export interface MaskOptions<T> {
  readMask: ReadMask<T>
}

/** A resource that has only the members of a mask. Arrays are whole. */
export type Masked<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: Masked<T[K]> }
    : T

export interface Page<T> {
  items: T[]
  /** Number of items on all pages at the time of this request. */
  totalSize: number
  /** `""` on the last page. */
  nextPageToken: string
}

/** The items of a list. Iterating requests one page after the other on demand; a new iteration requests them again. */
export interface List<T, P = Page<T>> extends AsyncIterable<T> {
  /** The pages of the list, with `nextPageToken` and what else a page of this list has. */
  pages(): AsyncIterableIterator<P>
  /** Requests all pages, and returns their items. */
  toArray(): Promise<T[]>
}

interface AnyListQuery extends PageQuery {
  filter?: string
  orderBy?: string
  readMask?: string
  afterSequence?: number | undefined
}

/** Lists a collection. @param member the member of a page that has its items. */
export const listOf = <T, P extends Pick<Page<T>, 'items' | 'nextPageToken'> = Page<T>>(
  send: Transport['send'],
  path: () => string,
  member: string,
  query: AnyListQuery = {},
): List<T, P> => {
  const { pageSize = 100, pageToken, skip, afterSequence, filter, orderBy, readMask, signal } = query
  const readPage = async (from: Pick<PageQuery, 'pageToken' | 'skip'>): Promise<P> => {
    const query = { pageSize, afterSequence, filter, orderBy, readMask, ...from }
    const { body } = await send<Record<string, unknown>>({ method: 'GET', path: path(), query, signal })
    const { [member]: items, ...page } = body
    if (!Array.isArray(items)) throw new FormsApiError({ status: 200, headers: new Headers() }, '')
    return { items, ...page } as unknown as P
  }
  async function* pages() {
    let page = await readPage({ ...(pageToken && { pageToken }), ...(skip && { skip }) })
    yield page
    while (page.nextPageToken) {
      // `skip` counts from the token, so only the first request has it.
      page = await readPage({ pageToken: page.nextPageToken })
      yield page
    }
  }
  return {
    pages,
    toArray: async () => {
      const all: T[] = []
      for await (const { items } of pages()) for (const item of items) all.push(item)
      return all
    },
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    },
  }
}
