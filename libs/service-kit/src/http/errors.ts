import type { IncomingHttpHeaders } from 'node:http'
import { apiError } from '@fms/aip'

/** Maximum number of characters of a path that an error repeats. */
const maxPathLength = 200

/** No route has this path (AIP-193). @param meant a known path that differs by a letter or two. */
export const pathNotFound = (path: string, meant?: string) =>
  path.length > maxPathLength
    ? apiError('PATH_NOT_FOUND', { path: path.slice(0, maxPathLength), meant: undefined })
    : apiError('PATH_NOT_FOUND', { path, meant })

/** The path exists, the method does not (RFC 9110 §15.5.6). @param meant a similar path that has the method. */
export const methodNotAllowed = (method: string, methods: readonly string[], meant?: string) => {
  const allowed = methods.join(', ')
  const shown = meant !== undefined && meant.length > maxPathLength ? undefined : meant
  return apiError('METHOD_NOT_ALLOWED', { method, allowed, meant: shown }, { headers: { allow: allowed } })
}

/** The content type of the body is not JSON, or it has a content coding such as gzip (RFC 9110 §15.5.16). */
export const unsupportedMediaType = (contentType = '', coding = '') =>
  apiError('UNSUPPORTED_MEDIA_TYPE', { contentType, coding })

/** The body is over the limit of its route (RFC 9110 §15.5.14). */
export const bodyTooLarge = (bodyLimitBytes: number) =>
  apiError('BODY_TOO_LARGE', { bodyLimitBytes: `${bodyLimitBytes}` })

/** The head or body has not arrived in time (RFC 9110 §15.5.9). */
export const requestTimeout = () => apiError('REQUEST_TIMEOUT', {})

export const malformedRequest = (cause: unknown) => apiError('MALFORMED_REQUEST', {}, { cause })

/** The head is over the limit of the server (RFC 6585 §5). */
export const headTooLarge = () => apiError('HEAD_TOO_LARGE', {})

/** A defect of the service. The response has no details; the log has the cause under the request id. */
export const internal = (cause: unknown) => apiError('INTERNAL', {}, { cause })

/** The turn of the request did not come in time. Nothing was done for it. */
export const overloaded = () => apiError('OVERLOADED', {})

/** The request did not come through the gateway: it has no valid identity token. */
export const identityRequired = () =>
  apiError('IDENTITY_REQUIRED', {}, { headers: { 'www-authenticate': 'FmsIdentity' } })

/** The header that every 401 has (RFC 9110 §11.6.1). */
export const apiKeyChallenge = { 'www-authenticate': 'ApiKey realm="forms"' }

/** Missing, malformed, unknown, expired and revoked keys get the same response, but for a hint to those who send a token. */
export const apiKeyInvalid = (request: IncomingHttpHeaders = {}) =>
  apiError('API_KEY_INVALID', isBearer(request) ? { authorization: 'Bearer' } : {}, {
    headers: apiKeyChallenge,
  })

const isBearer = (headers: IncomingHttpHeaders) =>
  headers['x-api-key'] === undefined && /^bearer\b/i.test(headers.authorization ?? '')

/** The caller's role, or its read-only key, does not permit writes. */
export const writeForbidden = (because: 'role' | 'key') => apiError('WRITE_FORBIDDEN', { because })

/** Only owners of the organization are allowed to do this. @param role the caller's. */
export const ownerRequired = (role = '') => apiError('OWNER_REQUIRED', { role })

/** The organization does not exist, or the caller is not a member. Both have the same response, to disclose neither. */
export const organizationNotFound = (organization: string) =>
  apiError('ORGANIZATION_NOT_FOUND', { organization: organization.slice(0, maxPathLength) })
