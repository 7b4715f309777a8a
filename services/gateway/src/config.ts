import { PublishTimeoutMs } from '@fms/contracts'
import { NatsUrl, PublicFormBaseUrl, ServiceConfig, ServiceOrigin } from '@fms/service-kit'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { maxBufferedBytes } from './upstream/upstream.ts'

/** Addresses or CIDR ranges, separated by commas. */
const TrustedProxies = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .refine((proxies) => proxies.every((each) => ipaddr.isValid(each) || ipaddr.isValidCIDR(each)), {
    error: 'must be addresses or ranges such as 10.0.0.0/8, separated by commas',
  })

const readOrigins = (text: string, context: z.RefinementCtx, orElse = ''): string[] => {
  const origins = text.split(',').map((each) => each.trim())
  for (const each of origins.filter((each) => originOf(each) !== each)) {
    context.addIssue(`names "${each}", which is not an origin: write ${exampleFor(each)}${orElse}`)
  }
  return origins
}

/** Exact origins (RFC 6454 §6.2), separated by commas. */
const Origins = z.string().transform((text, context) => readOrigins(text, context))

/** {@link Origins}, or `*`. */
const CorsOrigins = z
  .string()
  .transform((text, context): '*' | string[] =>
    text.trim() === '*' ? '*' : readOrigins(text, context, ', or only *'),
  )

/** Scheme, host and port as browsers send them: in lower case, without the default port. A `*` is not valid. */
const originOf = (url: string): string | undefined =>
  /^https?:[^*]+$/i.test(url) && URL.canParse(url) ? new URL(url).origin : undefined

const exampleFor = (url: string): string =>
  originOf(url) ?? 'scheme://host or scheme://host:port, such as https://app.example.com'

/** The gateway's environment variables. */
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
  /** Connections of callers. Further ones are closed. */
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
  /** The origins from which the pages of forms may load images and fonts. */
  PUBLIC_FORM_IMAGE_ORIGINS: Origins.default([]),
})
export type GatewayConfig = z.infer<typeof GatewayConfig>

/** Whether the gateway shows live forms to anybody. */
export const showsForms = ({ PUBLIC_FORMS, PUBLIC_FORM_BASE_URL }: GatewayConfig): boolean =>
  PUBLIC_FORMS === undefined ? PUBLIC_FORM_BASE_URL.endsWith('/f') : PUBLIC_FORMS === 'on'
