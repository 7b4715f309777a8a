import { describe, expect, it } from 'vitest'
import { kindOfStep } from './step-kind.ts'

describe('the kind of a step', () => {
  it.each([
    ['yes_no', 'yes-no'],
    ['shortText', 'text'],
    ['end', 'end'],
    ['payment', 'payment'],
    ['hologram', 'unknown'],
  ])('%s is %s', (type, kind) => {
    expect(kindOfStep({ type })).toBe(kind)
  })
})
