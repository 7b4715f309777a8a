import type { Client, Form } from '@fms/client'
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
  forms: ListedForm[]
  /** Number of forms that match, if the service knows it. */
  totalSize: number | undefined
  hasNext: boolean
}

/** Forms on a page of the console. */
export const pageSize = 25
/** Forms per request while the console itself leaves some out. */
const scanSize = 500

/** Reads a list of forms page by page. A page that was read is kept. */
export const readForms = (client: Client, organization: string, query: FormsQuery, signal: AbortSignal) => {
  const isScan = query.live !== 'any'
  const requests = client.forms
    .list(organization, {
      filter: filterOf(query),
      orderBy: query.orderBy,
      pageSize: isScan ? scanSize : pageSize,
      readMask: members.join(','),
      signal,
    })
    .pages()
  const read: ListedForm[] = []
  let totalSize: number | undefined
  let isComplete = false

  /** @param number from 0. */
  return async (number: number): Promise<FormsPageOf> => {
    const end = (number + 1) * pageSize
    // One more than the page, to know whether there is a next one.
    while (!isComplete && read.length < (isScan ? end + 1 : end)) {
      const { value: page, done } = await requests.next()
      if (done) break
      const items = page.items as ListedForm[]
      read.push(...items.filter((form) => matches(query, form)))
      if (!isScan) totalSize = page.totalSize
      isComplete = page.nextPageToken === ''
    }
    return { forms: read.slice(end - pageSize, end), totalSize, hasNext: !isComplete || read.length > end }
  }
}
