import { type AuthorizeRequest, AuthorizeResponse, identityHeader } from '@fms/contracts'
import type { Upstream } from '../upstream/upstream.ts'

/** Timeout of an authorize request, in milliseconds. */
const timeoutMs = 2_000

/**
 * Looks up the owner of a key and the owner's role in an organization.
 *
 * @returns undefined for a key that is unknown, expired or revoked.
 * @throws {Error} when organizations does not respond, or responds with any status but 200 and 401.
 */
export type AuthorizeClient = (
  request: AuthorizeRequest,
  requestId: string,
) => Promise<AuthorizeResponse | undefined>

/** Sends authorize requests to organizations, under the gateway's own identity. */
export const createAuthorizeClient = (organizations: Upstream, token: () => string): AuthorizeClient => {
  return async (request, requestId) => {
    const { statusCode, body } = await organizations.request({
      method: 'POST',
      path: '/internal/authorize',
      headers: {
        'content-type': 'application/json',
        'x-request-id': requestId,
        [identityHeader]: token(),
      },
      body: JSON.stringify(request),
      // The POST only reads.
      idempotent: true,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    const response = JSON.parse(String(body))
    if (statusCode === 200) return AuthorizeResponse.parse(response)
    if (statusCode === 401) return undefined
    throw new Error(`organizations responds to authorize with ${statusCode}`)
  }
}
