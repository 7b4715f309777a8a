import { randomUUID } from 'node:crypto'
import type { AuthorizeRequest, AuthorizeResponse } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { createAuthorizations } from './authorizations.ts'

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
  const organizations = { answer: (): AuthorizeResponse | undefined => member }
  const authorize = createAuthorizations({
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
    clock.now = 499
    await authorize('key', 'acme', 'r')
    expect(questions).toHaveLength(1)

    clock.now = 1_000
    organizations.answer = () => undefined
    expect(await authorize('key', 'acme', 'r')).toBeUndefined()
  })

  it('is refreshed behind the request in the second half of its second', async () => {
    const { clock, questions, authorize } = startAuthorizations()
    const first = await authorize('key', 'acme', 'r')
    clock.now = 500
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
    const { clock, questions, authorize } = startAuthorizations()
    const slow = authorize('key', 'acme', 'r')
    clock.now = 1_000
    await authorize('key', 'acme', 'r')
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
