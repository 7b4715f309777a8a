import { maxEventBytes } from '@fms/contracts'
import type { Change } from './changes/change.ts'
import { quotaExceeded } from './errors.ts'
import type { Quota, Usage } from './forms-store.ts'

export const noQuota: Quota = { forms: 0, bytes: 0 }

/**
 * The growth that a quota limits. A change that stores a draft or a revision also needs room for the largest event, so
 * that patches that keep the size of a draft come to an end, too. A draft that shrinks, and a change that stores neither,
 * needs none: a delete or an unpublish is never rejected because of its event.
 */
export const limitedGrowth = ({ form, revisions, growth }: Change): Usage => {
  const { forms, bytes, eventBytes } = growth
  const storesContent = 'insert' in form || ('set' in form && form.set.draft) || revisions
  const isLimited = storesContent && bytes >= eventBytes
  return { forms, bytes: isLimited ? bytes - eventBytes + maxEventBytes : 0 }
}

/** A change that keeps or shrinks the usage always passes. @throws {ApiError} QUOTA_EXCEEDED. */
export const assertWithinQuota = (organizationId: string, quota: Quota, used: Usage, growth: Usage): void => {
  for (const name of ['forms', 'bytes'] as const) {
    const isOver = growth[name] > 0 && used[name] + growth[name] > quota[name]
    if (quota[name] > 0 && isOver) throw quotaExceeded(organizationId, name, quota[name], used[name])
  }
}
