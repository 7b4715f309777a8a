import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime } from './format-time.ts'

describe('formatTime', () => {
  it('writes every time as toISOString does', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(formatTime(date)).toBe(date.toISOString())
      }),
    )
  })

  it('is correct at the ends of a day, of a year, and of the range of dates', () => {
    const ends = [
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T23:59:59.999Z',
      '1969-12-31T23:59:59.999Z',
      '2028-02-29T12:34:56.789Z',
      '9999-12-31T23:59:59.999Z',
      '+275760-09-13T00:00:00.000Z',
      '-271821-04-20T00:00:00.000Z',
    ]
    expect(ends.map((text) => formatTime(new Date(text)))).toEqual(ends)
  })

  it('bounds its cache, and is correct beyond it', () => {
    const dates = Array.from({ length: 5_000 }, (_, day) => new Date(day * 86_400_000 + 1))
    expect(dates.map(formatTime)).toEqual(dates.map((date) => date.toISOString()))
  })

  it('rejects an invalid date', () => {
    expect(() => formatTime(new Date(Number.NaN))).toThrow(RangeError)
  })
})
