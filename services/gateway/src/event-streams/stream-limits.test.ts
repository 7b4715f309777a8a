import type { ServerResponse } from 'node:http'
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

const identityOf = (keyId: string, organizationId: string) => ({
  userId: keyId,
  organizationId,
  readOnly: false,
  key: { id: keyId, prefix: 'abcd1234' },
})

/** Limits, and the names of the streams that were ended, in order. */
const givenLimits = (max?: ConstructorParameters<typeof StreamLimits>[0]) => {
  const limits = new StreamLimits(max)
  const ended: string[] = []
  const open = (name: string, keyId = name) => {
    const raw = { destroy: () => ended.push(`${name} destroyed`) } as unknown as ServerResponse
    return { raw, release: limits.acquire(identityOf(keyId, name[0]!), raw) }
  }
  return { limits, ended, open }
}

describe('StreamLimits', () => {
  it('bounds the streams of a key, and allows another one after a release', () => {
    const { open } = givenLimits({ key: 2, organization: 10, gateway: 10 })
    const { release } = open('a1', 'key')
    open('a2', 'key')

    expect(refusalOf(() => open('a3', 'key'))).toEqual({
      httpStatus: 429,
      reason: 'TOO_MANY_STREAMS',
      metadata: { scope: 'key', limit: '2' },
      retryAfterSeconds: 5,
    })
    open('b1')
    release()
    open('a3', 'key')
  })

  it('bounds the streams of an organization over all keys', () => {
    const { open } = givenLimits({ key: 2, organization: 3, gateway: 10 })
    const [first] = ['a1', 'a2', 'a3'].map((name) => open(name))

    expect(refusalOf(() => open('a4'))).toMatchObject({ metadata: { scope: 'organization', limit: '3' } })
    open('b1')
    first!.release()
    open('a4')
  })

  it('ends the oldest stream of the organization with the most for a newcomer to a full gateway', () => {
    const { limits, ended, open } = givenLimits({ key: 1, organization: 3, gateway: 5 })
    open('b1')
    const { raw, release } = open('a1')
    for (const name of ['a2', 'b2', 'a3']) open(name)
    limits.setEnd(raw, () => ended.push('a1 ended'))

    open('c1')

    expect(ended).toEqual(['a1 ended'])
    release()
    open('c2')
    expect(ended).toEqual(['a1 ended', 'b1 destroyed'])
  })

  it('allows 5 streams of a key and 100 of an organization by default', () => {
    const { open } = givenLimits()
    for (let stream = 0; stream < 99; stream++) open(`a${stream}`)
    for (let stream = 0; stream < 5; stream++) open(`b${stream}`, 'key')

    expect(refusalOf(() => open('b6', 'key'))).toMatchObject({ metadata: { scope: 'key', limit: '5' } })
    open('a99')
    expect(refusalOf(() => open('a100'))).toMatchObject({ metadata: { scope: 'organization', limit: '100' } })
  })
})
