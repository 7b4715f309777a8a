import { describe, expect, it } from 'vitest'
import { createCachedToken } from './authorization-cache.ts'

const hourMs = 60 * 60 * 1000

describe('a cached token', () => {
  it.each([
    ['is reused for 30 seconds', 30_000, 'token 1'],
    ['is signed again after 30 seconds', 30_001, 'token 2'],
    ['is signed again after the clock was set back by an hour', -hourMs, 'token 2'],
    ['is signed again after the clock was set forward by an hour', hourMs, 'token 2'],
  ])('%s', (_, shiftMs, expected) => {
    const clock = { ms: 1_000_000 }
    let signed = 0
    const token = createCachedToken(
      () => `token ${++signed}`,
      () => clock.ms,
    )
    token()
    clock.ms += shiftMs
    expect(token()).toBe(expected)
  })
})
