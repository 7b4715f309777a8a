import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonSyntaxError } from './json-syntax.ts'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('findJsonSyntaxError', () => {
  it.each<[string, number, number, string]>([
    ['', 1, 1, 'a value'],
    ['\ufeff{}', 1, 1, 'a value'],
    ['{"a": undefined}', 1, 7, 'a value'],
    ['{"a": NaN}', 1, 7, 'a value'],
    ['{"a": +1}', 1, 7, 'a value'],
    ['{"a": 01}', 1, 8, 'a comma or }'],
    ["{'a': 1}", 1, 2, 'a name in double quotes or }'],
    ['{a: 1}', 1, 2, 'a name in double quotes or }'],
    ['{"a": 1,}', 1, 9, 'a name in double quotes'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['{"a": 1 "b": 2}', 1, 9, 'a comma or }'],
    ['{"a": [1, 2', 1, 12, 'a comma or ]'],
    ['[1,]', 1, 4, 'a value'],
    ['[}', 1, 2, 'a value or ]'],
    ['{"a":\n  {"b": "😀" x}}', 2, 13, 'a comma or }'],
    ['{"a": "line\nbreak"}', 1, 7, 'a value'],
    ['{"a": "\\x"}', 1, 7, 'a value'],
    ['{} {}', 1, 4, 'the end'],
    ['{}\u00a0', 1, 3, 'the end'],
  ])('finds what is wrong with %j', (text, line, column, expected) => {
    expect(findJsonSyntaxError(text)).toEqual({ line, column, expected })
  })

  it('agrees with JSON.parse on what is JSON', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"',
      '\\',
      '\\u00e9',
      '1',
      '-',
      '.5',
      'e9',
      'true',
      'null',
      ' ',
      '\n',
    )
    const damaged = fc
      .record({ json: fc.json(), at: fc.nat(), cut: fc.nat(2), piece: fc.oneof(fc.constant(''), pieces) })
      .map(({ json, at, cut, piece }) => {
        const index = at % (json.length + 1)
        return json.slice(0, index) + piece + json.slice(index + cut)
      })
    const soup = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.json(), damaged, soup), (text) => {
        expect(findJsonSyntaxError(text) === undefined).toBe(isJson(text))
      }),
      { numRuns: 5000 },
    )
  })

  it.each(['[', '{"a":', '"\\n', '"a', '1', '-', ' ', '\n', '[],', '"\\u00e9"'])(
    'takes a megabyte of %j',
    (piece) => {
      const started = performance.now()
      expect(findJsonSyntaxError(`[${piece.repeat(2 ** 20 / piece.length)}`)).toBeDefined()
      expect(findJsonSyntaxError(`"${'\\n'.repeat(2 ** 19)}`)).toBeDefined()
      expect(performance.now() - started).toBeLessThan(2000)
    },
  )
})
