import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { didYouMean } from './did-you-mean.ts'

const names = ['rating', 'ranking', 'title', 'url', 'long-text', 'createTime', 'name']

describe('didYouMean', () => {
  it.each([
    ['ratign', 'rating'],
    ['titel', 'title'],
    ['titles', 'title'],
    ['long_text', 'long-text'],
    ['LongText', 'long-text'],
    ['create_time', 'createTime'],
    ['nmae', 'name'],
    ['ulr', 'url'],
  ])('takes %s for %s', (word, expected) => {
    expect(didYouMean(word, names)).toBe(expected)
  })

  it.each(['', 'x', 'matrix', 'uuu', 'rating'.repeat(1_000)])('takes %s for nothing', (word) => {
    expect(didYouMean(word, names)).toBeUndefined()
  })

  it('finds a word again after any edit', () => {
    const edit = fc.record({ at: fc.nat(12), cut: fc.nat(1), insert: fc.stringMatching(/^[a-z]?$/) })
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{6,12}$/), edit, (word, { at, cut, insert }) => {
        const edited = word.slice(0, at) + insert + word.slice(at + cut)
        expect(didYouMean(edited, ['0'.repeat(edited.length), word])).toBe(word)
      }),
    )
  })
})
