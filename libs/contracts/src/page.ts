import { z } from 'zod'

/** What every page of a list has beside its items (AIP-158). */
export const pageShape = {
  nextPageToken: z.string().describe('For `pageToken` of the next request; `""` on the last page.'),
  totalSize: z.int().min(0).describe('Items that match, on whatever page.'),
}
