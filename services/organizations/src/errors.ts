import { ApiError } from '@fms/aip'
import { apiKeyChallenge } from '@fms/service-kit'

/** LOGIN_CODE_INVALID: the code is wrong, used or expired; the error does not say which. */
export const loginCodeInvalid = () =>
  new ApiError(
    'UNAUTHENTICATED',
    'LOGIN_CODE_INVALID',
    'The login code is wrong, used or expired. Ask an operator for another link (formctl user login-link).',
    { headers: apiKeyChallenge },
  )

/** WRITE_FORBIDDEN: a read-only key rotates itself with an overlap, which would leave two keys. */
export const overlapForbidden = () =>
  new ApiError(
    'PERMISSION_DENIED',
    'WRITE_FORBIDDEN',
    'A read-only key rotates itself only without an overlap. Set overlapSeconds to 0, or use a key that is not read-only.',
    { metadata: { because: 'key' } },
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
