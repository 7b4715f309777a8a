import { ApiError } from '@fms/aip'

/** How soon a repeat may help: by then an open circuit lets a request through again. */
const retryAfterSeconds = 1

/** No key, a malformed, unknown, expired or revoked one: one and the same answer, so that nobody learns which. */
export const apiKeyInvalid = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'API_KEY_INVALID',
    'No valid API key came with the request. Send one in the header x-api-key: formctl key create makes it. The API reference is at /v2/docs.',
    { headers: { 'www-authenticate': 'ApiKey realm="forms"' } },
  )

/** Whose key it is can not be found out at the moment; nothing is said about the key. */
export const authenticationUnavailable = (cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'AUTHENTICATION_UNAVAILABLE',
    'API keys cannot be checked at the moment. Repeat the request a little later.',
    { retryAfterSeconds, cause },
  )

/** A service cannot be reached, does not answer in time, or its circuit is open. */
export const upstreamUnavailable = (service: string, cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'UPSTREAM_UNAVAILABLE',
    `The service ${service} does not answer at the moment. Repeat the request a little later.`,
    { metadata: { service }, retryAfterSeconds, cause },
  )

/**
 * The publish command could not be handed over: NATS is away, its queue or its disk is full, or its circuit is open.
 * A command that NATS takes in later is carried out before the request's deadline or never.
 */
export const publishingUnavailable = (requestId: string, cause: unknown) =>
  new ApiError(
    'UNAVAILABLE',
    'PUBLISHING_UNAVAILABLE',
    `Forms cannot be published at the moment. Repeat the request a little later, with requestId ${requestId}.`,
    { metadata: { requestId }, retryAfterSeconds, cause },
  )

/** The command was accepted, and nobody has confirmed it in time. From now on it is not carried out any more (AIP-155). */
export const publishTimedOut = (requestId: string) =>
  new ApiError(
    'DEADLINE_EXCEEDED',
    'PUBLISH_TIMEOUT',
    `Publishing was not confirmed in time: it has happened by now, or never will. It is safe to repeat it with requestId ${requestId}.`,
    { metadata: { requestId }, retryAfterSeconds },
  )

/** The key sent more requests in a minute than it may (RFC 6585 §4). */
export const rateLimited = (limit: number, retryAfterSeconds: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'RATE_LIMITED',
    `This key may send ${limit} requests a minute. Wait ${retryAfterSeconds} s, then go on.`,
    { metadata: { limit: `${limit}`, retryAfterSeconds: `${retryAfterSeconds}` }, retryAfterSeconds },
  )

/** So many keys that this gateway does not know are being looked up that one more cannot be (RFC 6585 §4). */
export const tooManyWrongKeys = (limit: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'TOO_MANY_WRONG_KEYS',
    `${limit} unknown keys are being looked up, and too many wait for it. Wait ${retryAfterSeconds} s, then repeat the request.`,
    { metadata: { limit: `${limit}`, retryAfterSeconds: `${retryAfterSeconds}` }, retryAfterSeconds },
  )

/** As many requests of the user or the organization are in flight as may be; long responses count more than once. */
export const tooManyAtOnce = (scope: 'user' | 'organization', limit: number) =>
  new ApiError(
    'RESOURCE_EXHAUSTED',
    'TOO_MANY_AT_ONCE',
    `This ${scope} may have ${limit} requests in flight at once; a response counts once more for each 256 KiB. Wait for some to end, or read smaller pages.`,
    { metadata: { scope, limit: `${limit}` }, retryAfterSeconds },
  )

/** None of the caller's organizations has a form with this public id; whether another one does shows nowhere. */
export const formNotFoundAnywhere = (formRef: string) =>
  new ApiError(
    'NOT_FOUND',
    'FORM_NOT_FOUND',
    `There is no organizations/-/forms/${formRef}: none of your organizations has a form with this publicId. List the forms of an organization to see which there are.`,
    { metadata: { form: `organizations/-/forms/${formRef}` } },
  )
