import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FixedWindowCounter } from './rate-limit.ts'

const startCounter = (maxNames?: number) => {
  const clock = { ms: 1_000_000 }
  return { clock, counts: new FixedWindowCounter(() => clock.ms, maxNames) }
}

describe('FixedWindowCounter', () => {
  it('begins a window with the first count of a name, and a new one a minute later', () => {
    const { clock, counts } = startCounter()
    counts.of('a').count++
    clock.ms += 59_999
    expect(counts.of('a').count).toBe(1)
    expect(counts.msLeft(counts.of('a'))).toBe(1)

    clock.ms += 1
    expect(counts.find('a')).toBeUndefined()
    expect(counts.msLeft(counts.of('a'))).toBe(60_000)
    expect(counts.of('a').count).toBe(0)
  })

  it('begins a window with the remaining time of another gateway', () => {
    const { clock, counts } = startCounter()
    counts.of('a', 500).count += 7
    expect(counts.of('a').count).toBe(7)

    clock.ms += 500
    expect(counts.of('a').count).toBe(0)
  })

  it('evicts expired windows, and the oldest beyond the maximum', () => {
    const { clock, counts } = startCounter(3)
    for (const name of ['a', 'b', 'c', 'd']) counts.of(name).count++
    expect(counts.size).toBe(3)
    expect(counts.find('a')).toBeUndefined()
    expect(counts.find('d')?.count).toBe(1)

    clock.ms += 60_000
    counts.of('e')
    expect(counts.size).toBe(1)
  })

  it('never holds more windows than its maximum, and no count is older than a minute', () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 9 }),
      after: fc.integer({ min: 0, max: 40_000 }),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { clock, counts } = startCounter(5)
        const began = new Map<string, number>()
        for (const { name, after } of steps) {
          clock.ms += after
          const window = counts.of(`${name}`)
          if (window.count === 0) began.set(`${name}`, clock.ms)
          window.count++
          expect(clock.ms - began.get(`${name}`)!).toBeLessThan(60_000)
          expect(counts.size).toBeLessThanOrEqual(5)
        }
      }),
    )
  })
})
