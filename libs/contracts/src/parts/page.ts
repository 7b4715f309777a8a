import { z } from 'zod'

/** The members of a page beside its items (AIP-158). */
export const pageShape = {
  nextPageToken: z.string().describe('`pageToken` of the next page; `""` on the last page.'),
  totalSize: z.int().min(0).describe('Number of matching items on all pages.'),
}
