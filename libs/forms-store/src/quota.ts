import { quotaExceeded } from './errors.ts'
import type { Quota, Usage } from './forms-store.ts'

/** No bounds. */
export const noQuota: Quota = { forms: 0, bytes: 0 }

/**
 * Refuses what grows beyond a quota; what shrinks or stays is never refused, also by an organization that is over it.
 *
 * @param growth what a change adds to `used`; negative where it takes away.
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const assertWithinQuota = (organizationId: string, quota: Quota, used: Usage, growth: Usage): void => {
  for (const name of ['forms', 'bytes'] as const) {
    const isOver = growth[name] > 0 && used[name] + growth[name] > quota[name]
    if (quota[name] > 0 && isOver) throw quotaExceeded(organizationId, name, quota[name], used[name])
  }
}
