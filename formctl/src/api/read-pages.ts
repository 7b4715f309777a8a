import type { z } from 'zod'
import type { Api } from './api.ts'

/** Reads every page of a list (AIP-158). @param schema of a page. */
export const readPages = async <Page extends { nextPageToken: string }>(
  api: Api,
  schema: z.ZodType<Page>,
  path: string,
): Promise<Page[]> => {
  const pages: Page[] = []
  let pageToken = ''
  do {
    const query = new URLSearchParams({ pageSize: '1000', pageToken })
    const page = await api.send(schema, 'GET', `${path}?${query}`)
    pages.push(page)
    pageToken = page.nextPageToken
  } while (pageToken !== '')
  return pages
}
