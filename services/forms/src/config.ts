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
  /** Where replies are told: `nats://user:password@host:port`. */
  NATS_URL: z.string({ error: 'is required: nats://user:password@host:port' }),
})
export type FormsConfig = z.infer<typeof FormsConfig>
