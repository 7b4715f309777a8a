import { ApiError } from '@fms/aip'

const headers = { 'www-authenticate': 'ApiKey realm="forms"' }

/**
 * API_KEY_INVALID: the key is unknown, expired or revoked; the error does not say which. The same as that of the
 * gateway, whose clients get it when their key ends during a request.
 */
export const apiKeyInvalid = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'API_KEY_INVALID',
    'The request has no valid API key. Send one in the header x-api-key; formctl key create creates one. The API reference is at /v2/docs.',
    { headers },
  )

/** LOGIN_CODE_INVALID: the code is wrong, used or expired; the error does not say which. */
export const loginCodeInvalid = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'LOGIN_CODE_INVALID',
    'The login code is wrong, used or expired. Have an operator create another link with formctl user login-link.',
    { headers },
  )

/**
 * KEY_OUTLIVES_CALLER: the new key would work for longer than the calling key.
 *
 * @param expireTime that of the calling key, RFC 3339.
 * @param field the field of the request that sets the expiry; absent where the request has none.
 */
export const keyOutlivesCaller = (expireTime: string, field?: string) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'KEY_OUTLIVES_CALLER',
    `The key of this request expires at ${expireTime}, and the new key would work for longer. ${field ? 'Set an expireTime that is not later, or use' : 'Use'} a key that works for longer.`,
    {
      metadata: { expireTime },
      fieldViolations: field ? [{ field, description: `must not be after ${expireTime}` }] : undefined,
    },
  )
