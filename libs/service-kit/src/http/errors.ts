import { ApiError } from '@fms/aip'

/** No route has this path (AIP-193). */
export const pathNotFound = (path: string) =>
  new ApiError(
    'NOT_FOUND',
    'PATH_NOT_FOUND',
    `There is nothing at ${path}. The API reference is at /v2/docs; formctl key create makes an API key.`,
    {
      metadata: { path },
    },
  )

/** The path exists, the method does not (RFC 9110 §15.5.6). */
export const methodNotAllowed = (method: string, allowed: readonly string[]) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'METHOD_NOT_ALLOWED',
    `${method} is not supported here. Use ${allowed.join(' or ')}.`,
    {
      http: 405,
      metadata: { method, allowed: allowed.join(', ') },
      headers: { allow: allowed.join(', ') },
    },
  )

/** The content type of the body is not JSON, or it has a content coding such as gzip (RFC 9110 §15.5.16). */
export const unsupportedMediaType = (contentType: string | undefined, coding?: string) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'UNSUPPORTED_MEDIA_TYPE',
    coding === undefined
      ? `A body of type ${contentType ?? '(none)'} is not supported. Send JSON with the header content-type: application/json.`
      : `The content coding ${coding} is not supported. Send the body without content-encoding.`,
    { http: 415, metadata: { contentType: contentType ?? '', coding: coding ?? '' } },
  )

/** The body is over the limit of its route (RFC 9110 §15.5.14). */
export const bodyTooLarge = (bodyLimitBytes: number) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'BODY_TOO_LARGE',
    `The body is larger than ${bodyLimitBytes} bytes. Send a smaller one.`,
    { http: 413, metadata: { bodyLimitBytes: String(bodyLimitBytes) } },
  )

/** The request is not well-formed HTTP. */
export const malformedRequest = (cause: unknown) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'MALFORMED_REQUEST',
    'The request is malformed HTTP. Check its headers and its length.',
    {
      cause,
    },
  )

/** A defect of the service. The response has no details; the log has the cause under the request id. */
export const internal = (cause: unknown) =>
  new ApiError(
    'INTERNAL',
    'INTERNAL',
    'Something failed on our side. Report it with the request id of this response.',
    {
      cause,
    },
  )

/** The turn of the request did not come in time. Nothing was done for it. */
export const overloaded = () =>
  new ApiError(
    'UNAVAILABLE',
    'OVERLOADED',
    'Too many requests wait. Nothing was done; repeat the request a little later.',
    { retryAfterSeconds: 1 },
  )

/** The request did not come through the gateway: it has no valid identity token. */
export const identityRequired = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'IDENTITY_REQUIRED',
    'This service accepts only requests from the gateway. Send the request to the gateway.',
    {
      headers: { 'www-authenticate': 'FmsIdentity' },
    },
  )

/** The header that every 401 has (RFC 9110 §11.6.1). */
export const apiKeyChallenge = { 'www-authenticate': 'ApiKey realm="forms"' }

/** The key is missing, malformed, unknown, expired or revoked. The response is the same in each case. */
export const apiKeyInvalid = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'API_KEY_INVALID',
    'The request has no valid API key. Send one in the header x-api-key; formctl key create creates one. The API reference is at /v2/docs.',
    { headers: apiKeyChallenge },
  )

/** The caller's role, or its read-only key, does not permit writes. */
export const writeForbidden = (because: 'role' | 'key') =>
  new ApiError(
    'PERMISSION_DENIED',
    'WRITE_FORBIDDEN',
    because === 'key'
      ? 'This key is read-only. Use a key that may write.'
      : 'Your role, viewer, may only read. Ask an owner of the organization for the role editor.',
    { metadata: { because } },
  )

/** Only owners of the organization are allowed to do this. @param role the caller's. */
export const ownerRequired = (role = '') =>
  new ApiError(
    'PERMISSION_DENIED',
    'OWNER_REQUIRED',
    `Only an owner of the organization may do this, and your role is ${role}. Ask an owner to do it.`,
    { metadata: { role } },
  )

/** The organization does not exist, or the caller is not a member. Both have the same response, to disclose neither. */
export const organizationNotFound = (organization: string) =>
  new ApiError(
    'NOT_FOUND',
    'ORGANIZATION_NOT_FOUND',
    `There is no organization ${organization}, or you are not a member of it. List your organizations.`,
    { metadata: { organization } },
  )
