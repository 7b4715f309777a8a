import { describe, expect, it } from 'vitest'
import { slopeOf } from './growth.ts'

describe('slopeOf', () => {
  it('is exact for points on a line', () => {
    const { perMinute, standardError } = slopeOf([0, 1, 2, 3].map((x) => [x, 5 + 2 * x] as const))
    expect(perMinute).toBeCloseTo(120)
    expect(standardError).toBeCloseTo(0)
  })

  it('returns the standard error of the slope', () => {
    // The residuals of the line 0.5 + 0.5 x are -0.5, 1, -0.5 and 0: squares of 1.5, over 2 degrees of freedom.
    const { perMinute, standardError } = slopeOf([
      [0, 0],
      [1, 2],
      [2, 1],
      [3, 2],
    ])
    expect(perMinute / 60).toBeCloseTo(0.5)
    expect(standardError / 60).toBeCloseTo(Math.sqrt(1.5 / 2 / 5))
  })
})
