import type { Client, Form, ReadMask } from '@fms/client'
import { type FormsQuery, filterOf, matches } from './form-filter.ts'

/** The members of a form in a list. The service reads no draft for them. */
const members = [
  'path',
  'publicId',
  'name',
  'type',
  'createTime',
  'updateTime',
  'replyCount',
  'live',
] as const
export type ListedForm = Pick<Form, (typeof members)[number]>

export interface FormsPageOf {
  /** From 0. */
  number: number
  forms: ListedForm[]
  /** Number of forms that match, if the service knows it. */
  totalSize: number | undefined
  hasNext: boolean
}

/** Forms on a page of the console. */
export const pageSize = 25
/** Forms per request while the console itself leaves some out. */
const scanSize = 500

/**
 * Reads a list of forms page by page. A page that was read is kept. After an error or an abort, the next call continues
 * where the last complete request ended.
 */
export const readForms = (client: Client, organization: string, query: FormsQuery) => {
  const isScan = query.live !== 'any'
  const read: ListedForm[] = []
  let totalSize: number | undefined
  /** Undefined before the first request, `""` after the last one. */
  let token: string | undefined

  const readMore = async (signal: AbortSignal) => {
    const list = client.forms.list(organization, {
      filter: filterOf(query),
      orderBy: query.orderBy,
      pageSize: isScan ? scanSize : pageSize,
      readMask: members.join(',') as ReadMask<Form>,
      signal,
      ...(token && { pageToken: token }),
    })
    const { value: page } = await list.pages().next()
    // Another call may have read the same page meanwhile.
    signal.throwIfAborted()
    const items = page.items as ListedForm[]
    read.push(...items.filter((form) => matches(query, form)))
    if (!isScan) totalSize = page.totalSize
    token = page.nextPageToken
  }

  /** @param number from 0. @param signal has to be aborted before the next call, if this one is still running */
  return async (number: number, signal: AbortSignal): Promise<FormsPageOf> => {
    const end = (number + 1) * pageSize
    // One more than the page, to know whether there is a next one.
    const needed = isScan ? end + 1 : end
    while (token !== '' && read.length < needed) await readMore(signal)
    const forms = read.slice(end - pageSize, end)
    return { number, forms, totalSize, hasNext: token !== '' || read.length > end }
  }
}
