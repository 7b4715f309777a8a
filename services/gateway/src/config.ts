import { PublishTimeoutMs } from '@fms/contracts'
import {
  CorsOrigins,
  NatsUrl,
  Origins,
  PublicFormBaseUrl,
  ServiceConfig,
  ServiceOrigin,
  TrustedProxies,
} from '@fms/service-kit/settings'
import { z } from 'zod'

/** Bytes of a long response that are buffered: any response fits, and frees its connection. */
export const maxBufferedBytes = 5.5 * 1024 * 1024

export const GatewayConfig = ServiceConfig.extend({
  /** Origin of organizations. */
  ORGANIZATIONS_URL: ServiceOrigin,
  /** Origin of forms. */
  FORMS_URL: ServiceOrigin,
  /** `nats://user:password@host:port`; the permissions of its user are in `deploy/nats-server.conf`. */
  NATS_URL: NatsUrl,
  /** Timeout of a publish request, in milliseconds. */
  PUBLISH_TIMEOUT_MS: PublishTimeoutMs,
  /** Requests of one key per minute; 0 lifts the limit. */
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(6_000),
  /** Requests that organizations and forms each work on at the same time for this gateway. Further ones wait. */
  MAX_REQUESTS: z.coerce.number().int().min(1).default(24),
  /** Requests of one user that wait or are under way, with whatever key; 0 lifts the limit. */
  MAX_REQUESTS_PER_USER: z.coerce.number().int().min(0).default(64),
  /** The same of one organization. */
  MAX_REQUESTS_PER_ORGANIZATION: z.coerce.number().int().min(0).default(256),
  /** Connections of callers. Further ones replace idle ones. */
  MAX_CONNECTIONS: z.coerce.number().int().min(1).default(8_192),
  /** Concurrent look-ups of keys that are not in the cache. */
  MAX_KEY_LOOKUPS: z.coerce.number().int().min(1).default(64),
  /** Bytes of long responses in memory. Further ones wait up to 5 s, then get a 503. */
  MAX_BUFFERED_RESPONSE_BYTES: z.coerce
    .number()
    .int()
    .min(maxBufferedBytes)
    .default(64 * 1024 * 1024),
  /** The proxies whose X-Forwarded-For is trusted. */
  TRUST_PROXY: TrustedProxies.optional(),
  /** The origins whose pages may read responses (CORS). */
  CORS_ORIGINS: CorsOrigins.default([]),
  /** Where respondents find forms: at `/f` of this gateway, or elsewhere. */
  PUBLIC_FORM_BASE_URL: PublicFormBaseUrl,
  /** Whether `/f` shows live forms to anybody. By default, if `PUBLIC_FORM_BASE_URL` ends with it. */
  PUBLIC_FORMS: z.enum(['on', 'off']).optional(),
  /** The origins from which the pages of forms, and their previews, may load images and fonts. */
  PUBLIC_FORM_IMAGE_ORIGINS: Origins.default([]),
})
export type GatewayConfig = z.infer<typeof GatewayConfig>

export const showsForms = ({ PUBLIC_FORMS, PUBLIC_FORM_BASE_URL }: GatewayConfig): boolean =>
  PUBLIC_FORMS === undefined ? PUBLIC_FORM_BASE_URL.endsWith('/f') : PUBLIC_FORMS === 'on'
