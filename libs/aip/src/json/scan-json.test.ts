import { costOfSize } from '@fms/testkit/machine/cpu-time'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../errors.ts'
import { scanJson } from './scan-json.ts'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const errorOf = (text: string, maxDepth = 64): ApiError | undefined => {
  try {
    scanJson(text, maxDepth)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** What is JSON, but rejected, and where; `""` for none. */
const rejectedIn = (text: string, maxDepth?: number) =>
  /^The body has (.*)\. Send/s.exec(errorOf(text, maxDepth)?.message ?? '')?.[1] ?? ''

const forbiddenIn = (text: string) => {
  const [violation] = errorOf(text)?.parts.fieldViolations ?? []
  return violation?.description === 'is not an allowed name' ? violation.field : undefined
}

const syntaxErrorOf = (text: string) => {
  const { line, column, expected } = errorOf(text)?.parts.metadata ?? {}
  return expected === undefined ? undefined : { line, column, expected }
}

describe('scanJson', () => {
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
  ])('reports the syntax error in %j', (text, line, column, expected) => {
    expect(syntaxErrorOf(text)).toEqual({ line: `${line}`, column: `${column}`, expected })
  })

  it('accepts the same texts as JSON.parse', () => {
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
        const error = syntaxErrorOf(text)
        // A scan stops at a number out of range, or a forbidden or repeated name, and does not check the text after it.
        fc.pre(error !== undefined || errorOf(text) === undefined)
        expect(error === undefined).toBe(isJson(text))
      }),
      { numRuns: 5000 },
    )
  })

  it('reports only the members of the outermost object, with the positions of their values', () => {
    const text = ' { "a" : {"b": 1} ,"\\u0062":[ ], "c":"\\"}" }'
    expect([...scanJson(text, 64)].map(([name, { start, end }]) => [name, text.slice(start, end)])).toEqual([
      ['a', '{"b": 1}'],
      ['b', '[ ]'],
      ['c', '"\\"}"'],
    ])
    expect(scanJson('[{"a": 1}]', 64).size).toBe(0)
  })

  it('reports the path of the first forbidden name, escaped or not', () => {
    const text = '{"a": [{}, {"\\u005f_proto__": 1}], "constructor": {"prototype": 1}}'
    expect(forbiddenIn(text)).toBe('a[1].__proto__')
    expect(forbiddenIn('{"a": {}, "constructor": {"prototype": 1}}')).toBe('constructor')
    expect(forbiddenIn('{"a": {"prototype": 1}}')).toBe('a.prototype')
    const similar = '{"a": "__proto__", "__proto_": 1, "Prototype": 2, "constructors": 3}'
    expect(forbiddenIn(similar)).toBeUndefined()
  })

  it('rejects half a surrogate pair exactly where String.isWellFormed does', () => {
    const pieces = fc.constantFrom('\\ud83d', '\\uDE00', '\\u0061', '\\n', 'a', '😀', '\\\\', '\\"')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
        const json = `"${parts.join('')}"`
        expect(rejectedIn(json) === '').toBe(JSON.parse(json).isWellFormed())
        expect(rejectedIn(`{${json}: 1}`) === '').toBe(JSON.parse(json).isWellFormed())
      }),
      { numRuns: 2000 },
    )
  })

  it('rejects exactly the numbers that JSON.parse reads as infinite', () => {
    const digits = fc.constantFrom('0', '1', '9'.repeat(308), '1'.repeat(310))
    const exponent = fc.constantFrom('', 'e9', 'E+308', 'e-999', 'e309')
    fc.assert(
      fc.property(fc.constantFrom('', '-'), digits, fc.constantFrom('', '.5'), exponent, (...parts) => {
        const json = parts.join('')
        expect(rejectedIn(json) === '').toBe(Number.isFinite(JSON.parse(json)))
      }),
    )
  })

  it('accepts `maxDepth` levels and rejects one more', () => {
    expect(rejectedIn('[[{"a":[]}]]', 4)).toBe('')
    expect(rejectedIn('[[{"a":[]}]]', 3)).toBe('more than 3 levels of nesting at [0][0].a')
    expect(rejectedIn('[0,[', 1)).toBe('more than 1 levels of nesting at [1]')
  })

  it.each<[string, string?, string?]>([
    ['['],
    ['[],', '['],
    ['{"a":'],
    ['{"a":1},', '['],
    [`${'['.repeat(60)}${']'.repeat(60)},`, '['],
    ['"\\n', ''],
    ['\\n', '"'],
    ['\\ud800', '"', '"'],
    ['a', '"'],
    ['"",', '['],
    ['1', '-'],
    ['1,', '['],
    ['1e5,', '['],
    ['-'],
    [' '],
    ['\n'],
    [','],
    ['"__proto__":0,', '{'],
    ['{"__proto__":0},', '['],
    ['"\\u0061":0,', '[{'],
    ['"validateOnly":0,', '[{'],
  ])('is linear in time: 256 KiB of %j after %j', async (piece, start = '', end = '') => {
    const scan = (size: number) =>
      syntaxErrorOf(start + piece.repeat((size - start.length - end.length) / piece.length) + end)

    expect(costOfSize(2 ** 18, scan)).toBeLessThan(8)
  })
})
