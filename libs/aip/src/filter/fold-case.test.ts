import { describe, expect, it } from 'vitest'
import { foldCase } from './fold-case.ts'

// The oracle: regular expressions with the flags iu use simple case folding (ECMA-262, Canonicalize).
// Excludes code points without case, which are most of Unicode: Han, Hangul, private use, unassigned, surrogates.
const characters = Array.from({ length: 0x110000 }, (_, codePoint) => String.fromCodePoint(codePoint)).filter(
  (character) => !/[\p{Cn}\p{Co}\p{Cs}\p{Script=Han}\p{Script=Hangul}]/u.test(character),
)
const toEscape = (character: string) => `\\u{${character.codePointAt(0)!.toString(16)}}`

describe('foldCase', () => {
  it.each([
    ['FeedBack', 'feedback'],
    ['\u212a', 'k'],
    ['ſ', 's'],
    ['ΣΑΣ', 'σας'],
    ['ẞ', 'ß'],
    ['Ǆǅ', 'ǆǆ'],
    ['𐐀', '𐐨'],
    ['Ꭰ', 'ꭰ'],
  ])('%s folds as %s', (a, b) => {
    expect(foldCase(a)).toBe(foldCase(b))
  })

  it.each([
    ['ß', 'ss'],
    ['ı', 'i'],
    ['İ', 'i'],
    ['ﬁ', 'fi'],
    ['é', 'e'],
  ])('%s does not fold as %s', (a, b) => {
    expect(foldCase(a)).not.toBe(foldCase(b))
  })

  it('makes only those characters equal that simple case folding makes equal', () => {
    const wrong = characters.filter((character) => {
      const folded = foldCase(character)
      return folded !== character && !new RegExp(`^${toEscape(character)}$`, 'iu').test(folded)
    })
    expect(wrong).toEqual([])
  })

  it('makes all characters equal that simple case folding makes equal', () => {
    const folded = characters.filter((character) => foldCase(character) === character)
    // Two different code points differ in some bit, so it is enough to compare the two halves for each bit.
    for (let bit = 0; bit < 21; bit++) {
      const { on = [], off = [] } = Object.groupBy(folded, (character) =>
        (character.codePointAt(0)! >> bit) & 1 ? 'on' : 'off',
      )
      const alike = new RegExp(`[${on.map(toEscape).join('')}]`, 'giu')
      expect(off.join('').match(alike)).toBeNull()
    }
  })

  it('changes nothing the second time, and keeps the number of code points', () => {
    for (const character of characters) {
      const folded = foldCase(character)
      expect(foldCase(folded) === folded && [...folded].length === 1).toBe(true)
    }
  })

  it('does not change characters without case', () => {
    const text = '表單 한글 😀 \u{10ffff} \0 123'
    expect(foldCase(text)).toBe(text)
  })
})
