import { z } from 'zod'

/** What an organization may have: read by whatever makes forms or revisions. */
export const QuotaConfig = z.object({
  /** Forms of one organization; 0 for any number. */
  MAX_FORMS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(100_000),
  /** Bytes of the drafts and revisions of one organization, as JSON in UTF-8; 0 for any number. 10 GiB by default. */
  MAX_BYTES_PER_ORGANIZATION: z.coerce
    .number()
    .int()
    .min(0)
    .default(10 * 1024 ** 3),
})
export type QuotaConfig = z.infer<typeof QuotaConfig>

/** The same, as the forms store takes it. */
export const toQuota = (config: QuotaConfig) => ({
  forms: config.MAX_FORMS_PER_ORGANIZATION,
  bytes: config.MAX_BYTES_PER_ORGANIZATION,
})
