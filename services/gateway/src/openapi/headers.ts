import type { Operation } from '@fms/contracts'

export const headers = {
  'x-request-id': {
    description: "The request's id, which is also in the log lines of every service.",
    schema: { type: 'string', maxLength: 128 },
  },
  'cache-control': {
    description: '`no-store` with an error. Where a key is needed, `private, no-cache`.',
    schema: { type: 'string' },
  },
  vary: {
    description: 'The request headers that the response depends on; `x-api-key` is one of them.',
    schema: { type: 'string' },
  },
  etag: {
    description:
      "The form's state (AIP-154). Absent on dry runs. Send it back as it came, quotes included, in `If-Match` or `If-None-Match`.",
    schema: { type: 'string' },
    example: '"3-live.12"',
  },
  'x-request-replayed': {
    description:
      '`true` if a request with this `requestId` was carried out before: the response has the form as it is now. Otherwise absent.',
    schema: { type: 'string', const: 'true' },
  },
  'retry-after': {
    description: 'Seconds after which a repeat may help.',
    schema: { type: 'integer', minimum: 0 },
  },
  'www-authenticate': { schema: { type: 'string', const: 'ApiKey realm="forms"' } },
  'ratelimit-limit': {
    description:
      'Requests that the key, or without one the address, may send in a minute. Absent where the operator sets no limit.',
    schema: { type: 'integer', minimum: 1 },
  },
  'ratelimit-remaining': {
    description: 'Requests left in this minute.',
    schema: { type: 'integer', minimum: 0 },
  },
  'ratelimit-reset': {
    description: 'Seconds until the next minute begins.',
    schema: { type: 'integer', minimum: 0 },
  },
}

export const headerRefs = (...names: (keyof typeof headers)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The headers of every response. A 401 has those of the rate limit only if the key ends during the request. */
export const headersOf = ({ access, reasons = [] }: Operation): (keyof typeof headers)[] => {
  const needsKey = access !== 'anyone'
  return [
    'x-request-id',
    'cache-control',
    ...(needsKey ? (['vary'] as const) : []),
    ...(needsKey || reasons.includes('RATE_LIMITED') ? rateLimitHeaders : []),
  ]
}

const rateLimitHeaders = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'] as const
