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

describe('StreamLimits', () => {
  it('bounds the streams of a key, and allows another one after a release', () => {
    const limits = new StreamLimits({ perKey: 2, total: 10 })
    const release = limits.acquire('a')
    limits.acquire('a')

    expect(refusalOf(() => limits.acquire('a'))).toEqual({
      httpStatus: 429,
      reason: 'TOO_MANY_STREAMS',
      metadata: { scope: 'key', limit: '2' },
      retryAfterSeconds: 5,
    })
    limits.acquire('b')
    release()
    limits.acquire('a')
    expect(refusalOf(() => limits.acquire('a'))).toMatchObject({ reason: 'TOO_MANY_STREAMS' })
  })

  it('bounds the streams of all keys', () => {
    const limits = new StreamLimits({ perKey: 2, total: 3 })
    const releases = ['a', 'b', 'c'].map((key) => limits.acquire(key))

    expect(refusalOf(() => limits.acquire('d'))).toMatchObject({ metadata: { scope: 'gateway', limit: '3' } })
    releases[0]!()
    limits.acquire('d')
    expect(refusalOf(() => limits.acquire('a'))).toMatchObject({ metadata: { scope: 'gateway' } })
  })

  it('allows 5 streams of a key and 1,000 in all by default', () => {
    const limits = new StreamLimits()
    for (let key = 0; key < 200; key++) for (let stream = 0; stream < 5; stream++) limits.acquire(`${key}`)

    expect(refusalOf(() => limits.acquire('0'))).toMatchObject({ metadata: { scope: 'key', limit: '5' } })
    expect(refusalOf(() => limits.acquire('x'))).toMatchObject({
      metadata: { scope: 'gateway', limit: '1000' },
    })
  })
})
