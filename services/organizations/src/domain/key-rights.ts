import { apiError } from '@fms/aip'
import type { ApiKey } from '@fms/directory-store'

/** A new key lives no longer than its creator. @param field that sets its expiry. @throws {ApiError} KEY_OUTLIVES_CALLER */
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

/** A read-only key rotates without overlap: a stolen one could multiply, and survive. @throws {ApiError} WRITE_FORBIDDEN */
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
