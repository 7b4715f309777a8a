import type { ApiKey } from '@fms/directory-store'
import { keyOutlivesCaller, overlapForbidden } from '../errors.ts'

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
    throw keyOutlivesCaller(callerEnd.toISOString(), field)
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
  if (isCallerReadOnly && overlapSeconds > 0) throw overlapForbidden()
}
