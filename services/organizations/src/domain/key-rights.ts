import type { ApiKey } from '@fms/directory-store'
import { keyOutlivesCaller } from '../errors.ts'

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
