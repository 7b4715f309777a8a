import { apiError } from '@fms/aip'
import { apiKeyChallenge } from '@fms/service-kit'

/** The code is wrong, used or expired; the error does not say which. */
export const loginCodeInvalid = () => apiError('LOGIN_CODE_INVALID', {}, { headers: apiKeyChallenge })

/** A read-only key rotates itself with an overlap, which would leave two keys. */
export const overlapForbidden = () =>
  apiError(
    'WRITE_FORBIDDEN',
    { because: 'key' },
    {
      message:
        'A read-only key rotates itself only without an overlap. Set overlapSeconds to 0, or use a key that is not read-only.',
    },
  )

/**
 * The new key would work for longer than the calling key.
 *
 * @param expireTime that of the calling key, RFC 3339.
 * @param field the field of the request that sets the expiry; absent where the request has none.
 */
export const keyOutlivesCaller = (expireTime: string, field?: string) =>
  apiError(
    'KEY_OUTLIVES_CALLER',
    { expireTime },
    { fieldViolations: field ? [{ field, description: `must not be after ${expireTime}` }] : undefined },
  )
