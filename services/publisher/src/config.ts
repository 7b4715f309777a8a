import { OptionalUrl } from '@fms/contracts'
import { QuotaConfig, ServiceConfig } from '@fms/service-kit'
import { z } from 'zod'

export const PublisherConfig = ServiceConfig.extend({
  ...QuotaConfig.shape,
  /** Where drafts and revisions live: `sqlite:PATH`. */
  FORMS_STORE_URL: z.string({ error: 'is required: the store, such as sqlite:.data/forms.db' }),
  /** Where publish commands wait: `nats://user:password@host:port`. */
  NATS_URL: z.string({ error: 'is required: nats://user:password@host:port' }),
  /** What stands before a form's public id in its `publicUrl`. */
  PUBLIC_FORM_BASE_URL: OptionalUrl.default('http://127.0.0.1:8080/f').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
})
export type PublisherConfig = z.infer<typeof PublisherConfig>
