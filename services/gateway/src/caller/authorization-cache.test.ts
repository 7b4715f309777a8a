import { randomUUID } from 'node:crypto'
import type { AuthorizeRequest, AuthorizeResponse } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { createAuthorizationCache } from './authorization-cache.ts'

const member: AuthorizeResponse = {
  userId: randomUUID(),
  keyId: randomUUID(),
  readOnly: false,
  organization: { organizationId: randomUUID(), role: 'editor' },
}
const { organization: _, ...stranger } = member

/** Authorizations whose clock and whose organizations the test holds. */
const startAuthorizations = () => {
  const clock = { now: 0 }
  const questions: AuthorizeRequest[] = []
  const signed: unknown[] = []
  const organizations: { answer: () => AuthorizeResponse | Promise<AuthorizeResponse> | undefined } = {
    answer: () => member,
  }
  const authorize = createAuthorizationCache({
    ask: async (question) => {
      questions.push(question)
      return organizations.answer()
    },
    sign: (identity) => `token ${signed.push(identity)}`,
    now: () => clock.now,
  })
  return { clock, questions, signed, organizations, authorize }
}

const away = () => {
  throw new Error('organizations is away')
}

/** Lets a question behind a request come to its end. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('an answer that lets somebody in', () => {
  it('holds for a second, counted from when its question was sent', async () => {
    const { clock, questions, organizations, authorize } = startAuthorizations()
    organizations.answer = () => {
      clock.now += 400
      return member
    }
    await authorize('key', 'acme', 'r')
    clock.now = 749
    await authorize('key', 'acme', 'r')
    expect(questions).toHaveLength(1)

    clock.now = 1_000
    organizations.answer = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('is refreshed behind the request in the last quarter of its second', async () => {
    const { clock, questions, authorize } = startAuthorizations()
    const first = await authorize('key', 'acme', 'r')
    clock.now = 750
    expect(await authorize('key', 'acme', 'r')).toBe(first)
    await settle()
    expect(questions).toHaveLength(2)

    clock.now = 999
    expect(await authorize('key', 'acme', 'r')).not.toBe(first)
    expect(questions).toHaveLength(2)
  })

  it('takes one question for many requests at once', async () => {
    const { questions, authorize } = startAuthorizations()
    await Promise.all(Array.from({ length: 10 }, () => authorize('key', 'acme', 'r')))
    expect(questions).toHaveLength(1)
  })

  it('takes another question when the one under way was sent before the second', async () => {
    const { clock, questions, organizations, authorize } = startAuthorizations()
    const letGo = Promise.withResolvers<AuthorizeResponse>()
    organizations.answer = () => letGo.promise
    const slow = authorize('key', 'acme', 'r')
    await settle()
    clock.now = 1_000
    organizations.answer = () => member
    await authorize('key', 'acme', 'r')
    letGo.resolve(member)
    await slow
    expect(questions).toHaveLength(2)
  })

  it('is the same for an organization id in other letters, and another for its slug', async () => {
    const { questions, authorize } = startAuthorizations()
    const { organizationId } = member.organization!
    await authorize('key', organizationId, 'r')
    await authorize('key', organizationId.toUpperCase(), 'r')
    expect(questions).toHaveLength(1)
    await authorize('key', 'acme', 'r')
    expect(questions).toHaveLength(2)
  })

  it('carries one token for half a minute', async () => {
    const { signed, authorize } = startAuthorizations()
    const caller = (await authorize('key', 'acme', 'r'))!
    expect(signed).toEqual([])
    expect([caller.token(), caller.token()]).toEqual(['token 1', 'token 1'])
  })
})

describe('an answer that keeps somebody out', () => {
  it('is never kept: a new key or member is let in at once', async () => {
    const { organizations, authorize } = startAuthorizations()
    organizations.answer = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
    organizations.answer = () => stranger
    expect((await authorize('key', 'acme', 'r'))?.identity.organizationId).toBeUndefined()
    organizations.answer = () => member
    expect((await authorize('key', 'acme', 'r'))?.identity).toMatchObject(member.organization!)
  })

  it('forgets all that was known about a revoked key', async () => {
    const { organizations, authorize } = startAuthorizations()
    await authorize('key', 'acme', 'r')
    organizations.answer = () => undefined
    await authorize('key', 'other', 'r')
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
    organizations.answer = away
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({
      reason: 'AUTHENTICATION_UNAVAILABLE',
    })
  })

  it('forgets a membership that ended', async () => {
    const { clock, organizations, authorize } = startAuthorizations()
    await authorize('key', 'acme', 'r')
    clock.now = 1_000
    organizations.answer = () => stranger
    await authorize('key', 'acme', 'r')
    organizations.answer = away
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({
      reason: 'AUTHENTICATION_UNAVAILABLE',
    })
  })
})

describe('while organizations is away', () => {
  it('an answer that was good serves for 30 seconds after it ran out', async () => {
    const { clock, organizations, authorize } = startAuthorizations()
    const caller = await authorize('key', 'acme', 'r')
    organizations.answer = away
    clock.now = 30_999
    expect(await authorize('key', 'acme', 'r')).toBe(caller)
    clock.now = 31_000
    await expect(authorize('key', 'acme', 'r')).rejects.toMatchObject({ httpStatus: 503 })
  })

  it('nobody who is known waits for it a second time', async () => {
    const { clock, questions, organizations, authorize } = startAuthorizations()
    const caller = await authorize('key', 'acme', 'r')
    organizations.answer = away
    clock.now = 1_000
    await authorize('key', 'acme', 'r')
    expect(questions).toHaveLength(2)

    const letGo = Promise.withResolvers<undefined>()
    organizations.answer = () => letGo.promise as never
    expect(await authorize('key', 'acme', 'r')).toBe(caller)
    expect(questions).toHaveLength(3)

    letGo.resolve(undefined)
    await settle()
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('a key that was never seen is told to come back', async () => {
    const { organizations, authorize } = startAuthorizations()
    organizations.answer = away
    await expect(authorize('key', undefined, 'r')).rejects.toMatchObject({
      httpStatus: 503,
      reason: 'AUTHENTICATION_UNAVAILABLE',
      parts: { retryAfterSeconds: 1 },
    })
  })
})

describe('what is looked up at once', () => {
  /** Organizations that know two keys, and answer about others when the test lets them. */
  const startBusy = async () => {
    const clock = { now: 0 }
    const asked: string[] = []
    const letGo = Promise.withResolvers<void>()
    const authorize = createAuthorizationCache({
      ask: async ({ keyHash, organizationRef = '' }) => {
        asked.push(`${keyHash} ${organizationRef}`.trim())
        if (keyHash === 'known' && asked.length === 1) return member
        await letGo.promise
        return keyHash.startsWith('wrong') ? undefined : member
      },
      sign: () => 'token',
      now: () => clock.now,
      maxKeyLookups: 2,
      maxPerUser: 3,
    })
    await authorize('known', undefined, 'r')
    asked.length = 0
    const wrongKeys = (count: number) =>
      Array.from({ length: count }, (_, index) => authorize(`wrong-${index}`, undefined, 'r'))
    return { authorize, asked, clock, wrongKeys, letGo: letGo.resolve }
  }

  it('is bounded for unknown keys, and a good one waits its turn behind wrong ones', async () => {
    const { authorize, asked, wrongKeys, letGo } = await startBusy()
    const wrong = wrongKeys(5)
    const good = authorize('good', undefined, 'r')
    await settle()
    expect(asked).toEqual(['wrong-0', 'wrong-1'])

    letGo()

    expect(await good).toMatchObject({ keyId: member.keyId })
    expect(await Promise.all(wrong)).toEqual(Array(5).fill(undefined))
  })

  it('is 429 where too many wait, and a key in use is looked up all the same', async () => {
    const { authorize, asked, clock, wrongKeys, letGo } = await startBusy()
    const wrong = wrongKeys(1_002)
    await expect(authorize('good', undefined, 'r')).rejects.toMatchObject({
      reason: 'TOO_MANY_WRONG_KEYS',
      httpStatus: 429,
      parts: { retryAfterSeconds: 1 },
    })

    clock.now += 1_500
    const known = authorize('known', undefined, 'r')
    await settle()

    expect(asked).toEqual(['wrong-0', 'wrong-1', 'known'])
    letGo()
    expect(await known).toMatchObject({ keyId: member.keyId })
    await Promise.all(wrong)
  })

  it('is bounded for one user, however many organizations its requests name', async () => {
    const { authorize, asked, letGo } = await startBusy()
    const lookups = ['a', 'b', 'c'].map((organizationRef) => authorize('known', organizationRef, 'r'))

    await expect(authorize('known', 'd', 'r')).rejects.toMatchObject({
      reason: 'TOO_MANY_AT_ONCE',
      parts: { metadata: { scope: 'user', limit: '3' } },
    })
    const good = authorize('good', undefined, 'r')
    await settle()

    expect(asked).toEqual(['known a', 'known b', 'known c', 'good'])
    letGo()
    await Promise.all([...lookups, good])
    expect(await authorize('known', 'd', 'r')).toBeDefined()
  })
})
