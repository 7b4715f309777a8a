import { AuthorizeResponse, identityHeader, type ServiceIdentity } from '@fms/contracts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Ask } from './authorization-cache.ts'
import { createCachedToken } from './cached-token.ts'

/** How long organizations may take to tell whose key it is. */
const timeoutMs = 2_000

/** Asks organizations whose key it is, as the gateway itself. */
export const createAuthorizeClient = (
  organizations: Upstream,
  sign: (identity: ServiceIdentity) => string,
): Ask => {
  const token = createCachedToken(() => sign({ service: 'gateway' }))
  return async (question, requestId) => {
    const { statusCode, body } = await organizations.request({
      method: 'POST',
      path: '/internal/authorize',
      headers: {
        'content-type': 'application/json',
        'x-request-id': requestId,
        [identityHeader]: token(),
      },
      body: JSON.stringify(question),
      // A read, though it is a POST.
      idempotent: true,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    const answer = JSON.parse(String(body))
    if (statusCode === 200) return AuthorizeResponse.parse(answer)
    if (statusCode === 401) return undefined
    throw new Error(`organizations answers authorize with ${statusCode}`)
  }
}
