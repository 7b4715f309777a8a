import { costOfSize } from '@fms/testkit/machine/cpu-time'
import { describe, expect, it } from 'vitest'
import { formatETag, ifMatchPattern, ifMatchVersionHolds, ifNoneMatchHolds, parseIfMatch } from './etag.ts'

describe('formatETag', () => {
  it('writes a strong tag that begins with the version', () => {
    expect(formatETag(12, 'k9Qz-1')).toBe('"12-k9Qz-1"')
  })
})

describe('parseIfMatch, and its pattern,', () => {
  it.each([
    [undefined, undefined],
    ['*', '*'],
    [' * ', '*'],
    ['"3-a"', ['3-a']],
    ['"xyzzy", "r2d2xxxx", "c3piozzzz"', ['xyzzy', 'r2d2xxxx', 'c3piozzzz']],
    ['"a,b" ,\t"c"', ['a,b', 'c']],
    [',"a",,"b",', ['a', 'b']],
    ['""', ['']],
    ['"*"', ['*']],
    ['"\xe9\\"', ['\xe9\\']],
    ['W/"3-a"', []],
    ['W/"3-a", "4-b"', ['4-b']],
  ])('reads %j', (header, condition) => {
    expect(header ?? '*').toMatch(new RegExp(ifMatchPattern, 'u'))
    expect(parseIfMatch(header)).toStrictEqual(condition)
    expect(JSON.parse(JSON.stringify({ condition }))).toStrictEqual(
      condition === undefined ? {} : { condition },
    )
  })

  it.each([
    '',
    ' ',
    ',',
    '3-a',
    "'3-a'",
    '"3-a',
    '3-a"',
    '"3-a" "4-b"',
    '"3-a""4-b"',
    '"3-a";',
    '"3 a"',
    'w/"3-a"',
    'W/ "3-a"',
    '*, "3-a"',
    '"3-a", *',
    '"3-a", 4-b',
    '"\u{1f600}"',
  ])('refuses %j and says the format', (header) => {
    expect(header).not.toMatch(new RegExp(ifMatchPattern, 'u'))
    expect(() => parseIfMatch(header)).toThrow(
      expect.objectContaining({
        reason: 'INVALID_IF_MATCH',
        httpStatus: 400,
        message: expect.stringContaining('in double quotes, such as "3-live.12"'),
      }),
    )
  })

  it('parses the longest header that a client may send in linear time', async () => {
    for (const piece of ['"', '"a"', '"a",', ' ', ',', ' ,', 'W/', 'W/"a" ,']) {
      for (const tail of ['', 'x']) {
        const parse = (size: number) => ifNoneMatchHolds(piece.repeat(size / piece.length) + tail, '"3-a"')
        expect(costOfSize(65_536, parse), piece).toBeLessThan(8)
      }
    }
  })
})

describe('ifMatchVersionHolds', () => {
  it.each([
    ['"3-a"', true],
    ['"3-another"', true],
    ['"9-a", "3-a"', true],
    ['*', true],
    ['"4-a"', false],
    ['"33-a"', false],
    ['"03-a"', false],
    ['"3"', false],
    ['"*"', false],
    ['W/"3-a"', false],
  ])('of %j for version 3 is %j', (header, holds) => {
    expect(ifMatchVersionHolds(parseIfMatch(header)!, 3)).toBe(holds)
  })
})

describe('ifNoneMatchHolds', () => {
  it.each([
    ['"3-a"', true],
    ['W/"3-a"', true],
    ['"2-z", W/"3-a"', true],
    ['*', true],
    ['"3-b"', false],
    ['"3"', false],
    [undefined, false],
    ['', false],
    ['3-a', false],
    ['"3-a" junk', false],
  ])('of %j for the tag "3-a" is %j', (header, holds) => {
    expect(ifNoneMatchHolds(header, '"3-a"')).toBe(holds)
  })
})
