import { describe, expect, it } from 'vitest'
import { createCachedToken } from './cached-token.ts'

const hourMs = 60 * 60 * 1000

describe('a token that is used again', () => {
  it.each([
    ['within half of its minute', 30_000, 'token 1'],
    ['from then on', 30_001, 'token 2'],
    ['after the clock was put back by an hour', -hourMs, 'token 2'],
    ['after it was put forward by one', hourMs, 'token 2'],
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
