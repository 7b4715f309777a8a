import { randomUUID } from 'node:crypto'
import type { AuthorizeRequest, AuthorizeResponse } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { createAuthorizationCache } from './authorization-cache.ts'

const member: AuthorizeResponse = {
  userId: randomUUID(),
  keyId: randomUUID(),
  keyPrefix: 'abcd1234',
  readOnly: false,
  organization: { organizationId: randomUUID(), role: 'editor' },
}
const { organization: _, ...stranger } = member

/** A cache with a clock and responses of organizations that the test sets. */
const startCache = () => {
  const clock = { now: 0 }
  const requests: AuthorizeRequest[] = []
  const signed: unknown[] = []
  const organizations: { respond: () => AuthorizeResponse | Promise<AuthorizeResponse> | undefined } = {
    respond: () => member,
  }
  const authorize = createAuthorizationCache({
    requestAuthorization: async (request) => {
      requests.push(request)
      return organizations.respond()
    },
    sign: (identity) => `token ${signed.push(identity)}`,
    now: () => clock.now,
    maxKeyLookups: 64,
    maxPerUser: 64,
  })
  return { clock, requests, signed, organizations, authorize }
}

const unavailable = () => {
  throw new Error('organizations is unavailable')
}

/** Resolves once a refresh in the background has ended. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a successful authorization', () => {
  it('is fresh for a second, counted from its request', async () => {
    const { clock, requests, organizations, authorize } = startCache()
    organizations.respond = () => {
      clock.now += 400
      return member
    }
    await authorize('key', 'acme', 'r')
    clock.now = 749
    await authorize('key', 'acme', 'r')
    expect(requests).toHaveLength(1)

    clock.now = 1_000
    organizations.respond = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('is refreshed in the background in the last quarter of its second', async () => {
    const { clock, requests, authorize } = startCache()
    const first = await authorize('key', 'acme', 'r')
    clock.now = 750
    expect(await authorize('key', 'acme', 'r')).toBe(first)
    await settle()
    expect(requests).toHaveLength(2)

    clock.now = 999
    expect(await authorize('key', 'acme', 'r')).not.toBe(first)
    expect(requests).toHaveLength(2)
  })

  it('is requested once for many concurrent callers', async () => {
    const { requests, authorize } = startCache()
    await Promise.all(Array.from({ length: 10 }, () => authorize('key', 'acme', 'r')))
    expect(requests).toHaveLength(1)
  })

  it('is requested once for many callers who wait for their turn', async () => {
    const { requests, organizations, authorize } = startCache()
    const blocked = Promise.withResolvers<AuthorizeResponse>()
    organizations.respond = () => blocked.promise
    const others = Array.from({ length: 64 }, (_, number) => authorize(`other ${number}`, 'acme', 'r'))

    const many = Array.from({ length: 2_000 }, () => authorize('key', 'acme', 'r'))
    await settle()
    blocked.resolve(member)

    expect(new Set(await Promise.all(many)).size).toBe(1)
    await Promise.all(others)
    expect(requests).toHaveLength(65)
  })

  it('is requested again when the request in flight is older than a second', async () => {
    const { clock, requests, organizations, authorize } = startCache()
    const blocked = Promise.withResolvers<AuthorizeResponse>()
    organizations.respond = () => blocked.promise
    const slow = authorize('key', 'acme', 'r')
    await settle()
    clock.now = 1_000
    organizations.respond = () => member
    await authorize('key', 'acme', 'r')
    blocked.resolve(member)
    await slow
    expect(requests).toHaveLength(2)
  })

  it('is cached by organization id in any letter case, and separately by slug', async () => {
    const { requests, authorize } = startCache()
    const { organizationId } = member.organization!
    await authorize('key', organizationId, 'r')
    await authorize('key', organizationId.toUpperCase(), 'r')
    expect(requests).toHaveLength(1)
    await authorize('key', 'acme', 'r')
    expect(requests).toHaveLength(2)
  })

  it('reuses its token', async () => {
    const { signed, authorize } = startCache()
    const caller = (await authorize('key', 'acme', 'r'))!
    expect(signed).toEqual([])
    expect([caller.token(), caller.token()]).toEqual(['token 1', 'token 1'])
  })
})

describe('a failed authorization', () => {
  it('is not cached: a new key or member is authorized immediately', async () => {
    const { organizations, authorize } = startCache()
    organizations.respond = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
    organizations.respond = () => stranger
    expect((await authorize('key', 'acme', 'r'))?.identity.organizationId).toBeUndefined()
    organizations.respond = () => member
    expect((await authorize('key', 'acme', 'r'))?.identity).toMatchObject(member.organization!)
  })

  it('evicts all entries of a revoked key', async () => {
    const { organizations, authorize } = startCache()
    await authorize('key', 'acme', 'r')
    organizations.respond = () => undefined
    await authorize('key', 'other', 'r')
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
    organizations.respond = unavailable
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({
      reason: 'AUTHENTICATION_UNAVAILABLE',
    })
  })

  it('evicts the entry of a membership that ended', async () => {
    const { clock, organizations, authorize } = startCache()
    await authorize('key', 'acme', 'r')
    clock.now = 1_000
    organizations.respond = () => stranger
    await authorize('key', 'acme', 'r')
    organizations.respond = unavailable
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({
      reason: 'AUTHENTICATION_UNAVAILABLE',
    })
  })
})

describe('while organizations is unavailable', () => {
  it('a stale entry is served for 30 seconds', async () => {
    const { clock, organizations, authorize } = startCache()
    const caller = await authorize('key', 'acme', 'r')
    organizations.respond = unavailable
    clock.now = 30_999
    expect(await authorize('key', 'acme', 'r')).toBe(caller)
    clock.now = 31_000
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({ httpStatus: 503 })
  })

  it('a stale entry is served without waiting after the first failed request', async () => {
    const { clock, requests, organizations, authorize } = startCache()
    const caller = await authorize('key', 'acme', 'r')
    organizations.respond = unavailable
    clock.now = 1_000
    await authorize('key', 'acme', 'r')
    expect(requests).toHaveLength(2)

    const blocked = Promise.withResolvers<undefined>()
    organizations.respond = () => blocked.promise as never
    expect(await authorize('key', 'acme', 'r')).toBe(caller)
    expect(requests).toHaveLength(3)

    blocked.resolve(undefined)
    await settle()
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('a stale entry is served for a second after a failure, then no request trusts it before it asks', async () => {
    const { clock, organizations, authorize } = startCache()
    const caller = await authorize('key', 'acme', 'r')
    organizations.respond = unavailable
    clock.now = 1_000
    expect(await authorize('key', 'acme', 'r')).toBe(caller)

    organizations.respond = () => undefined
    clock.now = 2_000
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('a stale entry is not served because the request of another key has failed', async () => {
    const { clock, organizations, authorize } = startCache()
    await authorize('key', 'acme', 'r')
    clock.now = 1_000
    organizations.respond = unavailable
    await expect(authorize('other', 'acme', 'r')).rejects.toMatchObject({ httpStatus: 503 })

    organizations.respond = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('a stale entry is served without waiting while a request has had no response for a second', async () => {
    const { clock, requests, organizations, authorize } = startCache()
    const caller = await authorize('key', 'acme', 'r')
    const blocked = Promise.withResolvers<undefined>()
    organizations.respond = () => blocked.promise as never
    clock.now = 1_000
    const waiting = authorize('key', 'acme', 'r')
    await settle()

    clock.now = 2_000
    expect(await authorize('key', 'acme', 'r')).toBe(caller)
    expect(requests).toHaveLength(2)

    blocked.resolve(undefined)
    expect(await waiting).toBeUndefined()
  })

  it('a key without an entry gets AUTHENTICATION_UNAVAILABLE with a retry delay', async () => {
    const { organizations, authorize } = startCache()
    organizations.respond = unavailable
    await expect(authorize('key', undefined, 'r')).rejects.toMatchObject({
      httpStatus: 503,
      reason: 'AUTHENTICATION_UNAVAILABLE',
      parts: { retryAfterSeconds: 1 },
    })
  })
})

describe('the number of concurrent look-ups', () => {
  /** A cache with the key `known`; further look-ups are blocked until the test releases them. */
  const startBlocked = async () => {
    const clock = { now: 0 }
    const lookups: string[] = []
    const blocked = Promise.withResolvers<void>()
    const authorize = createAuthorizationCache({
      requestAuthorization: async ({ keyHash, organizationRef = '' }) => {
        lookups.push(`${keyHash} ${organizationRef}`.trim())
        if (keyHash === 'known' && lookups.length === 1) return member
        await blocked.promise
        return keyHash.startsWith('invalid') ? undefined : member
      },
      sign: () => 'token',
      now: () => clock.now,
      maxKeyLookups: 2,
      maxPerUser: 3,
    })
    await authorize('known', undefined, 'r')
    lookups.length = 0
    const invalidKeys = (count: number) =>
      Array.from({ length: count }, (_, index) => authorize(`invalid-${index}`, undefined, 'r'))
    return { authorize, lookups, clock, invalidKeys, release: blocked.resolve }
  }

  it('is bounded for unknown keys, and a valid key waits in the queue behind invalid ones', async () => {
    const { authorize, lookups, invalidKeys, release } = await startBlocked()
    const invalid = invalidKeys(5)
    const valid = authorize('valid', undefined, 'r')
    await settle()
    expect(lookups).toEqual(['invalid-0', 'invalid-1'])

    release()

    expect(await valid).toMatchObject({ identity: { userId: member.userId } })
    expect(await Promise.all(invalid)).toEqual(Array(5).fill(undefined))
  })

  it('causes a 429 when the queue is full, but not for a key in the cache', async () => {
    const { authorize, lookups, clock, invalidKeys, release } = await startBlocked()
    const invalid = invalidKeys(1_002)
    await expect(authorize('valid', undefined, 'r')).rejects.toMatchObject({
      reason: 'TOO_MANY_WRONG_KEYS',
      httpStatus: 429,
      parts: { retryAfterSeconds: 1 },
    })

    clock.now += 1_500
    const known = authorize('known', undefined, 'r')
    await settle()

    expect(lookups).toEqual(['invalid-0', 'invalid-1', 'known'])
    release()
    expect(await known).toMatchObject({ identity: { userId: member.userId } })
    await Promise.all(invalid)
  })

  it('is bounded for one user, over all organizations', async () => {
    const { authorize, lookups, release } = await startBlocked()
    const pending = ['a', 'b', 'c'].map((organizationRef) => authorize('known', organizationRef, 'r'))

    const sentAt = performance.now()
    await expect(authorize('known', 'd', 'r')).rejects.toMatchObject({
      reason: 'TOO_MANY_AT_ONCE',
      parts: { metadata: { scope: 'user', limit: '3' } },
    })
    expect(performance.now() - sentAt).toBeGreaterThan(450)
    const valid = authorize('valid', undefined, 'r')
    await settle()

    expect(lookups).toEqual(['known a', 'known b', 'known c', 'valid'])
    release()
    await Promise.all([...pending, valid])
    expect(await authorize('known', 'd', 'r')).toBeDefined()
  })
})
