import { describe, expect, it } from 'vitest'
import { FixedWindowCounter } from './rate-limit.ts'

const startCounter = (max?: number) => {
  const clock = { ms: 1_000_000 }
  return { clock, counts: new FixedWindowCounter(() => clock.ms, max) }
}

describe('FixedWindowCounter', () => {
  it('begins a window with the first count of a name, and a new one a minute later', () => {
    const { clock, counts } = startCounter()
    counts.of('a').count++
    clock.ms += 59_999
    expect(counts.of('a').count).toBe(1)
    expect(counts.msLeft('a')).toBe(1)

    clock.ms += 2
    expect(counts.find('a')).toBeUndefined()
    expect(counts.of('a').count).toBe(0)
    expect(counts.msLeft('a')).toBe(60_000)
  })

  it.each([500, 0])('begins a window with the remaining time of another gateway: %i ms', (msLeft) => {
    const { clock, counts } = startCounter()
    counts.of('a', msLeft).count += 7
    expect(counts.of('a').count).toBe(7)

    clock.ms += msLeft + 2
    expect(counts.of('a').count).toBe(0)
  })

  it('evicts the window that was used least recently, with what is not published of it', () => {
    const { counts } = startCounter(3)
    for (const name of ['a', 'b', 'c', 'a', 'd']) {
      counts.of(name).count++
      counts.unsent.add(name)
    }

    expect(counts.find('b')).toBeUndefined()
    expect(counts.find('a')?.count).toBe(2)
    expect([...counts.unsent]).toEqual(['a', 'c', 'd'])
  })
})
