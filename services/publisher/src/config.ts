import { OptionalUrl, PublishTimeoutMs } from '@fms/contracts'
import { QuotaConfig, ServiceConfig } from '@fms/service-kit'
import { z } from 'zod'

export const PublisherConfig = ServiceConfig.extend({
  ...QuotaConfig.shape,
  /** URL of the forms store: `sqlite:PATH` or `mongodb://…/DATABASE`. */
  FORMS_STORE_URL: z.string({ error: 'is required: the store, such as sqlite:.data/forms.db' }),
  /** NATS with the queue of publish commands: `nats://user:password@host:port`. */
  NATS_URL: z.string({ error: 'is required: nats://user:password@host:port' }),
  /** The same value as the gateways': how long a caller waits. Commands expire from the queue one second later. */
  PUBLISH_TIMEOUT_MS: PublishTimeoutMs,
  /** Prefix of a form's public id in its `publicUrl`. */
  PUBLIC_FORM_BASE_URL: OptionalUrl.default('http://127.0.0.1:8080/f').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
})
export type PublisherConfig = z.infer<typeof PublisherConfig>
