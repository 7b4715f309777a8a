import { describe, expect, it } from 'vitest'
import { slopeOf, spreadOf } from './statistics.ts'

describe('spreadOf', () => {
  it('returns the median, and half the range as a share of the median', () => {
    expect(spreadOf([90, 100, 130])).toEqual({ median: 100, noise: 0.2 })
    expect(spreadOf([7])).toEqual({ median: 7, noise: 0 })
  })
})

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
