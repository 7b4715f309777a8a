import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareCodePoints } from './compare-code-points.ts'

it.each([
  ['\uFFFD', '😀'],
  ['a\uE000', 'a\u{10000}'],
  ['😀', '😁'],
  ['Z', 'a'],
  ['', 'a'],
  ['a', 'a\0'],
])('puts %j before %j', (a, b) => {
  expect(compareCodePoints(a, b)).toBeLessThan(0)
  expect(compareCodePoints(b, a)).toBeGreaterThan(0)
})

it('orders as UTF-8 bytes do', () => {
  const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '\uD7FF', '\uE000', '\uFFFD', '😀', '😁') })
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
})
