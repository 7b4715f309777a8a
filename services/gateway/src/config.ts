import { PublishTimeoutMs } from '@fms/contracts'
import { ServiceConfig } from '@fms/service-kit'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { maxBufferedBytes } from './upstream/buffering-dispatcher.ts'

/** `http://host:port`: the services' routes begin at the root. */
const Origin = z
  .string({ error: 'is required: http://host:port' })
  .refine((url) => URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`, {
    error: 'must be http://host:port',
  })
  .transform((url) => new URL(url).origin)

/** Addresses or CIDR ranges, separated by commas. */
const TrustedProxies = z
  .string()
  .transform((list) => list.split(',').map((each) => each.trim()))
  .refine((proxies) => proxies.every((each) => ipaddr.isValid(each) || ipaddr.isValidCIDR(each)), {
    error: 'must be addresses or ranges such as 10.0.0.0/8, separated by commas',
  })

/** Exact origins (RFC 6454 §6.2), separated by commas, or `*`. */
const CorsOrigins = z.string().transform((text, context): '*' | string[] => {
  const origins = text.split(',').map((each) => each.trim())
  if (text.trim() === '*') return '*'
  for (const each of origins.filter((each) => originOf(each) !== each)) {
    context.addIssue(`names "${each}", which is no origin: write ${exampleFor(each)}, or * alone`)
  }
  return origins
})

/** Scheme, host and port, as browsers send them: in lower case, without the scheme's own port. No host has a `*`. */
const originOf = (url: string): string | undefined =>
  /^https?:[^*]+$/i.test(url) && URL.canParse(url) ? new URL(url).origin : undefined

const exampleFor = (url: string): string =>
  originOf(url) ?? 'scheme://host or scheme://host:port, such as https://app.example.com'

/** What the gateway reads from its environment. */
export const GatewayConfig = ServiceConfig.extend({
  /** Where organizations listens; it answers `authorize`, too. */
  ORGANIZATIONS_URL: Origin,
  /** Where forms listens. */
  FORMS_URL: Origin,
  /** `nats://user:password@host:port`; its user's permissions are those of `deploy/nats-server.conf`. */
  NATS_URL: z.string({ error: 'is required: nats://user:password@host:port' }),
  /** How long a publish request waits for its form, in milliseconds. */
  PUBLISH_TIMEOUT_MS: PublishTimeoutMs,
  /** Requests that one key may send in a minute; 0 takes the limit away. */
  RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(0).default(6_000),
  /** Requests that may be under way at once to organizations, to forms, and to publish, each; more get 503 at once. */
  MAX_REQUESTS: z.coerce.number().int().min(1).default(256),
  /** Requests of one user that may be in flight at once, whatever the key; 0 takes the limit away. */
  MAX_REQUESTS_PER_USER: z.coerce.number().int().min(0).default(64),
  /** Look-ups of keys that this gateway does not know that may run at once. */
  MAX_KEY_LOOKUPS: z.coerce.number().int().min(1).default(64),
  /** Bytes of long responses that may wait for their callers at once; others wait for 2 s, then get 503. */
  MAX_BUFFERED_RESPONSE_BYTES: z.coerce
    .number()
    .int()
    .min(maxBufferedBytes)
    .default(64 * 1024 * 1024),
  /** The proxies whose X-Forwarded-For is believed. */
  TRUST_PROXY: TrustedProxies.optional(),
  /** The origins whose pages may read responses in a browser (CORS). */
  CORS_ORIGINS: CorsOrigins.default([]),
})
export type GatewayConfig = z.infer<typeof GatewayConfig>
