import { randomUUID } from 'node:crypto'
import type { Identity } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { ConcurrencyLimits } from './concurrency-limits.ts'

const userId = randomUUID()
const organizationId = randomUUID()
const user: Identity = { userId, readOnly: false, key: { id: randomUUID(), prefix: 'abcd1234' } }
const member: Identity = { ...user, organizationId, role: 'editor' }
const errorOf = (act: () => unknown) => {
  try {
    act()
    return undefined
  } catch (error) {
    return error
  }
}

describe('concurrency limits', () => {
  it('count the requests of a user in flight', () => {
    const limits = new ConcurrencyLimits(2, 10)
    const permits = [limits.acquire(member), limits.acquire(user)]

    expect(errorOf(() => limits.acquire(member))).toMatchObject({
      reason: 'TOO_MANY_AT_ONCE',
      httpStatus: 429,
      parts: { metadata: { scope: 'user', limit: '2' }, retryAfterSeconds: 1 },
    })
    expect(errorOf(() => limits.acquire({ ...member, userId: randomUUID() }))).toBeUndefined()
    for (const permit of permits) permit.release()
    expect(errorOf(() => limits.acquire(member))).toBeUndefined()
  })

  it('count the requests of an organization in flight, and release the unit of the user on a rejection', () => {
    const limits = new ConcurrencyLimits(10, 1)
    const permit = limits.acquire({ ...member, userId: randomUUID() })

    expect(errorOf(() => limits.acquire(member))).toMatchObject({
      parts: { metadata: { scope: 'organization', limit: '1' } },
    })
    permit.release()

    expect([limits.users.size, limits.organizations.size]).toEqual([0, 0])
  })

  it('hold a permit until it is released and all work for it is done', async () => {
    const limits = new ConcurrencyLimits(1, 1)
    const permit = limits.acquire(member)
    const work = Promise.withResolvers<void>()
    const done = permit.holdDuring(() => work.promise)
    permit.release()
    expect(errorOf(() => limits.acquire(member))).toMatchObject({ reason: 'TOO_MANY_AT_ONCE' })

    let released = 0
    permit.defer(() => released++)

    work.resolve()
    await done

    permit.defer(() => released++)
    expect([limits.users.size, released]).toEqual([0, 2])
  })

  it('do not apply to users with 0', () => {
    const limits = new ConcurrencyLimits(0, 1_000)
    for (let i = 0; i < 1_000; i++) limits.acquire(member)

    expect(limits.users.size).toBe(1)
  })
})
