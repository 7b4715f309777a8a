import { quotaExceeded } from './errors.ts'
import type { Quota, Usage } from './forms-store.ts'

/** No limits. */
export const noQuota: Quota = { forms: 0, bytes: 0 }

/**
 * Rejects growth beyond a quota. A change that shrinks or keeps the usage always passes, even over the quota.
 *
 * @param growth what a change adds to `used`; negative when it removes.
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const assertWithinQuota = (organizationId: string, quota: Quota, used: Usage, growth: Usage): void => {
  for (const name of ['forms', 'bytes'] as const) {
    const isOver = growth[name] > 0 && used[name] + growth[name] > quota[name]
    if (quota[name] > 0 && isOver) throw quotaExceeded(organizationId, name, quota[name], used[name])
  }
}
