import { describe, expect, it } from 'vitest'
import { nameOfCopy } from './name-of-copy.ts'

describe('the name of a copy', () => {
  it('contains the name of the original', () => {
    expect(nameOfCopy('Customer feedback')).toBe('Copy of Customer feedback')
  })

  it.each(['🍵', 'a🍵'])('has at most 200 code points, and no half of a surrogate pair: %s', (text) => {
    const name = nameOfCopy(text.repeat(200))

    expect([...name]).toHaveLength(200)
    expect(name.isWellFormed()).toBe(true)
  })
})
