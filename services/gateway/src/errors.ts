import { apiError } from '@fms/aip'

/** The key cannot be looked up at the moment; it may be valid. */
export const authenticationUnavailable = (cause: unknown) =>
  apiError('AUTHENTICATION_UNAVAILABLE', {}, { cause })

export const upstreamUnavailable = (service: string, cause: unknown) =>
  apiError('UPSTREAM_UNAVAILABLE', { service }, { cause })

/** NATS has not stored the command. If it does so later, publishers keep to the deadline. */
export const publishingUnavailable = (requestId: string, cause: unknown) =>
  apiError('PUBLISHING_UNAVAILABLE', { requestId }, { cause })

/** NATS has stored the command, but no reply came before the deadline. Later it is not carried out (AIP-155). */
export const publishTimedOut = (requestId: string) => apiError('PUBLISH_TIMEOUT', { requestId })

/** The key, or without one the address, has reached its limit of requests per minute (RFC 6585 §4). */
export const rateLimited = (limit: number, retryAfterSeconds: number) =>
  apiError(
    'RATE_LIMITED',
    { limit: `${limit}`, retryAfterSeconds: `${retryAfterSeconds}` },
    { retryAfterSeconds },
  )

/** The limit of concurrent look-ups of unknown keys is reached, and too many wait (RFC 6585 §4). */
export const tooManyWrongKeys = (limit: number) =>
  apiError('TOO_MANY_WRONG_KEYS', { limit: `${limit}`, retryAfterSeconds: '1' })

export const consoleNotBuilt = () => apiError('CONSOLE_NOT_BUILT', {})

/** Respondents see no form with this public id. The services do not say why. */
export const publicFormNotFound = (publicId: string) => apiError('PUBLIC_FORM_NOT_FOUND', { publicId })

export const tooManyAtOnce = (scope: 'user' | 'organization', limit: number) =>
  apiError('TOO_MANY_AT_ONCE', { scope, limit: `${limit}` })

export const tooManyStreams = (scope: 'key' | 'organization', limit: number) =>
  apiError('TOO_MANY_STREAMS', { scope, limit: `${limit}` })

/** None of the caller's organizations has a form with this public id. Another organization may have one. */
export const formNotFoundAnywhere = (formRef: string) => {
  const form = `organizations/-/forms/${formRef}`
  const message = `There is no ${form}: none of your organizations has a form with this publicId. List the forms of an organization to see its publicIds.`
  return apiError('FORM_NOT_FOUND', { form }, { message })
}
