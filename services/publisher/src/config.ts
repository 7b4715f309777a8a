import { PublishTimeoutMs } from '@fms/contracts'
import { NatsUrl, PublicFormBaseUrl, QuotaConfig, ServiceConfig, StoreUrl } from '@fms/service-kit/settings'
import { z } from 'zod'

const EventsConfig = z.object({
  /** Age in days after which the stream EVENTS drops an event. */
  EVENTS_STREAM_DAYS: z.coerce.number().int().min(1).max(3_650).default(7),
  /** Size of the stream EVENTS in bytes, 1 MiB or more. Beyond it, the stream drops the oldest events. */
  EVENTS_STREAM_BYTES: z.coerce
    .number()
    .int()
    .min(2 ** 20)
    .default(2 ** 30),
  /** Events of one organization and type in the stream EVENTS, 1 to 1,000,000,000. Beyond it, it drops the oldest of them. */
  EVENTS_STREAM_PER_TYPE: z.coerce.number().int().min(1).max(1_000_000_000).default(10_000),
  /** Age in days after which events leave the log of their organization. */
  EVENTS_RETENTION_DAYS: z.coerce.number().int().min(1).max(36_500).default(400),
  /** Events that the log of an organization keeps; 0 for no limit. Beyond it, the oldest leave the log. */
  MAX_EVENTS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(1_000_000),
})
export type EventsConfig = z.infer<typeof EventsConfig>

export const PublisherConfig = ServiceConfig.extend({
  ...QuotaConfig.shape,
  /** URL of the forms store: `sqlite:PATH` or `mongodb://…/DATABASE`. */
  FORMS_STORE_URL: StoreUrl,
  /** NATS with the queue of publish commands: `nats://user:password@host:port`. */
  NATS_URL: NatsUrl,
  /** The same value as the gateways': how long a caller waits. Commands expire from the queue one second later. */
  PUBLISH_TIMEOUT_MS: PublishTimeoutMs,
  ...EventsConfig.shape,
  /** Prefix of a form's public id in its `publicUrl`. */
  PUBLIC_FORM_BASE_URL: PublicFormBaseUrl,
})
