import { ApiError } from '@fms/aip'

/** When a repeat may help: an open circuit lets one request through every second. */
const retryAfterSeconds = 1

/** Streams stay open for long. */
const streamRetryAfterSeconds = 5

/** The key cannot be looked up at the moment; it may be valid. */
export const authenticationUnavailable = (cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'AUTHENTICATION_UNAVAILABLE',
    'API keys cannot be checked at the moment. Repeat the request a little later.',
    { retryAfterSeconds, cause },
  )

/** A service cannot be reached, does not respond in time, or its circuit is open. */
export const upstreamUnavailable = (service: string, cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'UPSTREAM_UNAVAILABLE',
    `The service ${service} does not respond at the moment. Repeat the request a little later.`,
    { metadata: { service }, retryAfterSeconds, cause },
  )

/**
 * NATS has not stored the publish command: it is not connected, its stream or disk is full, or the circuit is open. If
 * NATS stores it later, it is carried out before the request's deadline or never.
 */
export const publishingUnavailable = (requestId: string, cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'PUBLISHING_UNAVAILABLE',
    `Forms cannot be published at the moment. Repeat the request a little later, with requestId ${requestId}.`,
    { metadata: { requestId }, retryAfterSeconds, cause },
  )

/** NATS has stored the command, but no reply came before the deadline. Later it is not carried out (AIP-155). */
export const publishTimedOut = (requestId: string) =>
  new ApiError(
    'DEADLINE_EXCEEDED',
    'PUBLISH_TIMEOUT',
    `Publishing was not confirmed in time: it has happened by now, or never will. It is safe to repeat it with requestId ${requestId}.`,
    { metadata: { requestId }, retryAfterSeconds },
  )

/** The key has reached its limit of requests per minute (RFC 6585 §4). */
export const rateLimited = (limit: number, retryAfterSeconds: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMITED',
    `This key may send ${limit} requests a minute. Wait ${retryAfterSeconds} s, then continue.`,
    { metadata: { limit: `${limit}`, retryAfterSeconds: `${retryAfterSeconds}` }, retryAfterSeconds },
  )

/** The limit of concurrent look-ups of unknown keys is reached, and too many wait (RFC 6585 §4). */
export const tooManyWrongKeys = (limit: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'TOO_MANY_WRONG_KEYS',
    `${limit} unknown keys are being looked up, and too many others wait. Wait ${retryAfterSeconds} s, then repeat the request.`,
    { metadata: { limit: `${limit}`, retryAfterSeconds: `${retryAfterSeconds}` }, retryAfterSeconds },
  )

/** The files of the console are not there. */
export const consoleNotBuilt = () =>
  new ApiError(
    'NOT_FOUND',
    'CONSOLE_NOT_BUILT',
    'The console is not built here. Run npm run build -w console in the root folder of the repository, then reload the page.',
  )

/** The limit of requests of a user or an organization that wait or are under way is reached. */
export const tooManyAtOnce = (scope: 'user' | 'organization', limit: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'TOO_MANY_AT_ONCE',
    `This ${scope} may have ${limit} requests waiting or under way. Wait for some to end; a response ends with its last byte.`,
    { metadata: { scope, limit: `${limit}` }, retryAfterSeconds },
  )

/** A limit of open event streams is reached (RFC 6585 §4). */
export const tooManyStreams = (scope: 'key' | 'organization', limit: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'TOO_MANY_STREAMS',
    `This ${scope} may have ${limit} event streams open at once. Close some, share one stream among readers, or read the list of events.`,
    { metadata: { scope, limit: `${limit}` }, retryAfterSeconds: streamRetryAfterSeconds },
  )

/** None of the caller's organizations has a form with this public id. Another organization may have one. */
export const formNotFoundAnywhere = (formRef: string) =>
  new ApiError(
    'NOT_FOUND',
    'FORM_NOT_FOUND',
    `There is no organizations/-/forms/${formRef}: none of your organizations has a form with this publicId. List the forms of an organization to see its publicIds.`,
    { metadata: { form: `organizations/-/forms/${formRef}` } },
  )
