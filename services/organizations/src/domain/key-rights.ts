import { apiError } from '@fms/aip'
import type { ApiKey } from '@fms/directory-store'

/**
 * Checks that a new key works for no longer than the key that creates it.
 *
 * @param field the field of the request that sets the expiry of the new key, if it has one.
 * @throws {ApiError} KEY_OUTLIVES_CALLER
 */
export const assertNotOutlivesCaller = (
  { expireTime: callerEnd }: Pick<ApiKey, 'expireTime'>,
  { expireTime }: Pick<ApiKey, 'expireTime'>,
  field?: string,
): void => {
  if (callerEnd && (!expireTime || expireTime > callerEnd)) {
    const end = callerEnd.toISOString()
    const fieldViolations = field ? [{ field, description: `must not be after ${end}` }] : undefined
    throw apiError('KEY_OUTLIVES_CALLER', { expireTime: end }, { fieldViolations })
  }
}

/**
 * Checks that a rotation by a read-only key leaves one key. With overlaps, a stolen read-only key could fill up the keys of
 * its user, and its successors would survive its revocation.
 *
 * @throws {ApiError} WRITE_FORBIDDEN
 */
export const assertMayOverlap = (
  { readOnly: isCallerReadOnly }: Pick<ApiKey, 'readOnly'>,
  overlapSeconds: number,
): void => {
  if (isCallerReadOnly && overlapSeconds > 0) {
    const message =
      'A read-only key rotates itself only without an overlap. Set overlapSeconds to 0, or use a key that is not read-only.'
    throw apiError('WRITE_FORBIDDEN', { because: 'key' }, { message })
  }
}
