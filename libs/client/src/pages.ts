import type { CallOptions } from './transport.ts'

/** The parameters of every list (AIP-158). */
export interface PageQuery extends CallOptions {
  /** Items a request asks for: 1 to 1,000, default 100. It does not bound how many the list gives. */
  pageSize?: number
  /** Go on from the `nextPageToken` of an earlier page, with the same filter and order. */
  pageToken?: string
  /** Items to leave out at the beginning, 0 to 2147483647. */
  skip?: number
}

/** A list with a filter and an order. */
export interface ListQuery extends PageQuery {
  /** An expression such as `name = "Cust*" AND type = structured` (AIP-160). */
  filter?: string
  /** Fields such as `name, updateTime desc` (AIP-132). */
  orderBy?: string
}

/** One page of a list (AIP-158). */
export interface Page<T> {
  items: T[]
  /** Items on all pages, as counted for this one. */
  totalSize: number
  /** `""` on the last page. */
  nextPageToken: string
}

/** All items of a list, read page by page as they are asked for. Iterating again reads again. */
export interface List<T> extends AsyncIterable<T> {
  /** The same by the page, with `totalSize` and a token to go on from. */
  pages(): AsyncIterableIterator<Page<T>>
}

/** Where a page begins, and how long it may be. */
export type Place = Required<Pick<PageQuery, 'pageSize'>> & Pick<PageQuery, 'pageToken' | 'skip'>

export const listOf = <T>(
  { pageSize = 100, pageToken: start, skip }: PageQuery,
  read: (place: Place) => Promise<Page<T>>,
): List<T> => {
  async function* pages() {
    let page = await read({ pageSize, ...(start && { pageToken: start }), ...(skip && { skip }) })
    yield page
    while (page.nextPageToken !== '') {
      // Skipping counts from the token: once is enough.
      page = await read({ pageSize, pageToken: page.nextPageToken })
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
