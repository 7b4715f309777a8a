import { OptionalUrl } from '@fms/contracts'
import { QuotaConfig, ServiceConfig } from '@fms/service-kit'
import { z } from 'zod'

export const FormsConfig = ServiceConfig.extend({
  ...QuotaConfig.shape,
  /** Where drafts and revisions live: `sqlite:PATH`. */
  FORMS_STORE_URL: z.string({ error: 'is required: the store, such as sqlite:.data/forms.db' }),
  /** What stands before a form's public id in its `publicUrl`. */
  PUBLIC_FORM_BASE_URL: OptionalUrl.default('http://127.0.0.1:8080/f').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
  /** How long a list may take, in milliseconds. */
  SEARCH_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(2_000),
  /** Where replies are told: `nats://user:password@host:port`. */
  NATS_URL: z.string({ error: 'is required: nats://user:password@host:port' }),
})
export type FormsConfig = z.infer<typeof FormsConfig>
