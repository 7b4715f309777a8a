import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FixedWindowCounter } from './fixed-window-counter.ts'

const counting = (maxNames?: number) => {
  const clock = { ms: 1_000_000 }
  return { clock, counts: new FixedWindowCounter(() => clock.ms, maxNames) }
}

describe('FixedWindowCounter', () => {
  it('begins a minute with the first count of a name, and anew after it', () => {
    const { clock, counts } = counting()
    counts.of('a').count++
    clock.ms += 59_999
    expect(counts.of('a').count).toBe(1)
    expect(counts.msLeft(counts.of('a'))).toBe(1)

    clock.ms += 1
    expect(counts.find('a')).toBeUndefined()
    expect(counts.msLeft(counts.of('a'))).toBe(60_000)
    expect(counts.of('a').count).toBe(0)
  })

  it('takes over the end of a minute that began elsewhere', () => {
    const { clock, counts } = counting()
    counts.of('a', 500).count += 7
    expect(counts.of('a').count).toBe(7)

    clock.ms += 500
    expect(counts.of('a').count).toBe(0)
  })

  it('forgets what is over, and the oldest where there are too many', () => {
    const { clock, counts } = counting(3)
    for (const name of ['a', 'b', 'c', 'd']) counts.of(name).count++
    expect(counts.size).toBe(3)
    expect(counts.find('a')).toBeUndefined()
    expect(counts.find('d')?.count).toBe(1)

    clock.ms += 60_000
    counts.of('e')
    expect(counts.size).toBe(1)
  })

  it('never remembers more than it may, and never lets a count outlive its minute', () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 9 }),
      after: fc.integer({ min: 0, max: 40_000 }),
    })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { clock, counts } = counting(5)
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
