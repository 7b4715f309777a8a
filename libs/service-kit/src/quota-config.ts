import { z } from 'zod'

/** The quotas of an organization. Every process that creates forms or revisions reads them. */
export const QuotaConfig = z.object({
  /** The forms of an organization; 0 for no limit. 100,000 by default. */
  MAX_FORMS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(100_000),
  /** The bytes of an organization's drafts and revisions, as JSON in UTF-8; 0 for no limit. 10 GiB by default. */
  MAX_BYTES_PER_ORGANIZATION: z.coerce
    .number()
    .int()
    .min(0)
    .default(10 * 1024 ** 3),
})
export type QuotaConfig = z.infer<typeof QuotaConfig>

/** Converts the configuration to the quota of the forms store. */
export const toQuota = (config: QuotaConfig) => ({
  forms: config.MAX_FORMS_PER_ORGANIZATION,
  bytes: config.MAX_BYTES_PER_ORGANIZATION,
})
