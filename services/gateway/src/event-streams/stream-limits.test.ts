import { describe, expect, it } from 'vitest'
import { StreamLimits } from './stream-limits.ts'

const refusalOf = (acquire: () => unknown) => {
  try {
    acquire()
  } catch (error) {
    const { httpStatus, reason, parts } = error as { httpStatus: number; reason: string; parts: object }
    return { httpStatus, reason, ...parts }
  }
  return undefined
}

const callerOf = (keyId: string, userId = keyId, organizationId = keyId) => ({
  keyId,
  identity: { userId, organizationId, readOnly: false },
})

const max = { key: 2, user: 10, organization: 10, gateway: 10 }

describe('StreamLimits', () => {
  it('bounds the streams of a key, and allows another one after a release', () => {
    const limits = new StreamLimits(max)
    const release = limits.acquire(callerOf('a'))
    limits.acquire(callerOf('a'))

    expect(refusalOf(() => limits.acquire(callerOf('a')))).toEqual({
      httpStatus: 429,
      reason: 'TOO_MANY_STREAMS',
      metadata: { scope: 'key', limit: '2' },
      retryAfterSeconds: 5,
    })
    limits.acquire(callerOf('b'))
    release()
    limits.acquire(callerOf('a'))
    expect(refusalOf(() => limits.acquire(callerOf('a')))).toMatchObject({ reason: 'TOO_MANY_STREAMS' })
  })

  it.each([
    ['user', (key: string) => callerOf(key, 'same')],
    ['organization', (key: string) => callerOf(key, key, 'same')],
  ] as const)('bounds the streams of one %s over all keys', (scope, caller) => {
    const limits = new StreamLimits({ ...max, [scope]: 3 })
    const releases = ['a', 'b', 'c'].map((key) => limits.acquire(caller(key)))

    expect(refusalOf(() => limits.acquire(caller('d')))).toMatchObject({ metadata: { scope, limit: '3' } })
    limits.acquire(callerOf('other'))
    releases[0]!()
    limits.acquire(caller('d'))
    expect(refusalOf(() => limits.acquire(caller('e')))).toMatchObject({ metadata: { scope } })
  })

  it('bounds the streams of all callers', () => {
    const limits = new StreamLimits({ ...max, gateway: 3 })
    const releases = ['a', 'b', 'c'].map((key) => limits.acquire(callerOf(key)))

    expect(refusalOf(() => limits.acquire(callerOf('d')))).toMatchObject({
      metadata: { scope: 'gateway', limit: '3' },
    })
    releases[0]!()
    limits.acquire(callerOf('d'))
    expect(refusalOf(() => limits.acquire(callerOf('a')))).toMatchObject({ metadata: { scope: 'gateway' } })
  })

  it('allows 5 streams of a key, 500 of a user or an organization, and 1,000 in all by default', () => {
    const limits = new StreamLimits()
    const scopeFor = (...ids: [string, string, string]) => {
      const refusal = refusalOf(() => limits.acquire(callerOf(...ids)))
      return refusal && (refusal as { metadata?: object }).metadata
    }
    for (const side of ['left', 'right'])
      for (let stream = 0; stream < 500; stream++)
        expect(scopeFor(`${side} ${stream % 100}`, `user ${side}`, side)).toBeUndefined()

    expect(scopeFor('left 0', 'x', 'x')).toEqual({ scope: 'key', limit: '5' })
    expect(scopeFor('x', 'user left', 'x')).toEqual({ scope: 'user', limit: '500' })
    expect(scopeFor('x', 'x', 'left')).toEqual({ scope: 'organization', limit: '500' })
    expect(scopeFor('x', 'x', 'x')).toEqual({ scope: 'gateway', limit: '1000' })
  })
})
