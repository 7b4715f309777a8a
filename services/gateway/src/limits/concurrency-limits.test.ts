import { randomUUID } from 'node:crypto'
import type { Identity } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { ConcurrencyLimits } from './concurrency-limits.ts'

const userId = randomUUID()
const organizationId = randomUUID()
const member: Identity = { userId, readOnly: false, organizationId, role: 'editor' }
const reasonOf = (act: () => unknown) => {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}

describe('concurrency limits', () => {
  it('count what a user has in flight, and forget who has nothing', () => {
    const limits = new ConcurrencyLimits(2, 10)
    const permits = [limits.acquire(member), limits.acquire({ userId, readOnly: false })]

    expect(reasonOf(() => limits.acquire(member))).toMatchObject({
      reason: 'TOO_MANY_AT_ONCE',
      httpStatus: 429,
      parts: { metadata: { scope: 'user', limit: '2' }, retryAfterSeconds: 1 },
    })
    expect(reasonOf(() => limits.acquire({ ...member, userId: randomUUID() }))).toBeUndefined()
    for (const permit of permits) permit.release()
    expect(reasonOf(() => limits.acquire(member))).toBeUndefined()
  })

  it('count what an organization has in flight, and hold nothing of the user where that is too much', () => {
    const limits = new ConcurrencyLimits(10, 1)
    const permit = limits.acquire({ ...member, userId: randomUUID() })

    expect(reasonOf(() => limits.acquire(member))).toMatchObject({
      parts: { metadata: { scope: 'organization', limit: '1' } },
    })
    permit.release()

    expect([limits.users.size, limits.organizations.size]).toEqual([0, 0])
  })

  it('count a long response as several, and one that is longer than a limit as all of it', () => {
    const limits = new ConcurrencyLimits(4, 3)
    const permit = limits.acquire(member)
    permit.raise(9)

    expect(reasonOf(() => limits.acquire(member))).toMatchObject({ reason: 'TOO_MANY_AT_ONCE' })
    permit.release()
    const [first, second] = [limits.acquire(member), limits.acquire(member)]
    expect(reasonOf(() => first.raise(3))).toMatchObject({ reason: 'TOO_MANY_AT_ONCE' })
    first.release()
    second.release()
    expect([limits.users.size, limits.organizations.size]).toEqual([0, 0])
  })

  it('hold a permit until whatever retains it has released it', () => {
    const limits = new ConcurrencyLimits(1, 1)
    const permit = limits.acquire(member)
    permit.retain()
    permit.release()
    expect(reasonOf(() => limits.acquire(member))).toMatchObject({ reason: 'TOO_MANY_AT_ONCE' })

    permit.release()

    expect(limits.users.size).toBe(0)
  })

  it('are none for users with 0', () => {
    const limits = new ConcurrencyLimits(0, 1_000)
    for (let i = 0; i < 1_000; i++) limits.acquire(member)

    expect(limits.users.size).toBe(1)
  })
})
