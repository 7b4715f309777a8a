import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toRfc3339 } from './to-rfc3339.ts'

it('toRfc3339 returns the text of toISOString, for times in any order', () => {
  const anyTime = fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.integer({ min: -3, max: 3 * 86_400_000 }).map((ms) => new Date(ms)),
    fc.constantFrom(new Date(0), new Date(-1), new Date(86_399_999), new Date('+010000-01-01T00:00:00.000Z')),
  )
  fc.assert(
    fc.property(fc.array(anyTime, { minLength: 1 }), (times) => {
      expect(times.map(toRfc3339)).toEqual(times.map((time) => time.toISOString()))
    }),
  )
})
