import type { CallOptions } from './transport.ts'

/** The parameters of every list (AIP-158). */
export interface PageQuery extends CallOptions {
  /** Number of items per request, 1 to 1,000; default 100. Does not limit the length of the list. */
  pageSize?: number
  /** `nextPageToken` of an earlier page with the same filter and order: the list starts after that page. */
  pageToken?: string
  /** Number of items to skip at the start, 0 to 2147483647; default 0. */
  skip?: number
}

/** The parameters of a list with a filter and an order. */
export interface ListQuery extends PageQuery {
  /** An expression such as `name = "Cust*" AND type = structured` (AIP-160). */
  filter?: string
  /** Fields such as `name, updateTime desc` (AIP-132). */
  orderBy?: string
}

/** One page of a list (AIP-158). */
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
}

/** The paging parameters of a request. */
export type PageParameters = Required<Pick<PageQuery, 'pageSize'>> & Pick<PageQuery, 'pageToken' | 'skip'>

/** Creates a list from a function that requests one page. */
export const listOf = <T, P extends Pick<Page<T>, 'items' | 'nextPageToken'> = Page<T>>(
  { pageSize = 100, pageToken: start, skip }: PageQuery,
  readPage: (parameters: PageParameters) => Promise<P>,
): List<T, P> => {
  async function* pages() {
    let page = await readPage({ pageSize, ...(start && { pageToken: start }), ...(skip && { skip }) })
    yield page
    while (page.nextPageToken !== '') {
      // `skip` counts from the token, so only the first request has it.
      page = await readPage({ pageSize, pageToken: page.nextPageToken })
      yield page
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    },
  }
}
