import { describe, expect, it } from 'vitest'
import { formerPlaces, withLabels } from './option-lines.ts'

describe('the former place of each line', () => {
  it.each([
    ['an edited line', 'A B C', 'A Bx C', [0, 1, 2]],
    ['a line before all', 'A B', 'X A B', [undefined, 0, 1]],
    ['a line in the middle', 'A B', 'A X B', [0, undefined, 1]],
    ['a removed line', 'A B C', 'A C', [0, 2]],
    ['the same line again', 'A A', 'A A A', [0, 1, undefined]],
    ['other lines', 'A B', 'X Y Z', [0, 1, undefined]],
    ['no lines', 'A B', '', [0]],
  ])('is known of %s', (_, before, after, places) => {
    expect(formerPlaces(before.split(' '), after.split(' '))).toEqual(places)
  })
})

describe('options with keys', () => {
  it('keep them while their labels are edited', () => {
    const options = [{ key: 'm', label: 'Morning' }, 'Noon', { key: 'e', label: 'Evening' }]

    expect(withLabels(options, ['Early', 'Noon', 'Later', 'Evening'])).toEqual([
      { key: 'm', label: 'Early' },
      'Noon',
      'Later',
      { key: 'e', label: 'Evening' },
    ])
    expect(withLabels(options, ['Noon', 'Evening'])).toEqual(options.slice(1))
  })
})
