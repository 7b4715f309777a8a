import { isDeepStrictEqual } from 'node:util'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import type { Json } from './json.ts'

const anyJson = fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }) as fc.Arbitrary<Json>

/** The JSON text of a value with its members in any order, and white space between tokens. */
const anySpelling = (value: Json): fc.Arbitrary<string> => {
  if (typeof value !== 'object' || value === null) return fc.constant(JSON.stringify(value))
  const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 })
  if (Array.isArray(value))
    return fc
      .tuple(fc.tuple(...value.map(anySpelling)), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}]`)
  const members = Object.entries(value).map(([name, member]) =>
    anySpelling(member as Json).map((text) => `${JSON.stringify(name)}:${text}`),
  )
  return fc
    .tuple(fc.tuple(...members), space)
    .chain(([texts, gap]) =>
      fc
        .shuffledSubarray(texts, { minLength: texts.length })
        .map((shuffled) => `{${gap}${shuffled.join(`,${gap}`)}${gap}}`),
    )
}

describe('canonicalJson', () => {
  // RFC 8785 §3.2.2 and §3.2.3
  it.each([
    [
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    [
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    ['[1.0, -0, 1e0, "\\u0031"]', '[1,0,1,"1"]'],
    ['{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'],
  ])('of %s', (text, canonical) => {
    expect(canonicalJson(JSON.parse(text))).toBe(canonical)
  })

  it('is the same for every spelling of a value, and parses to the value', () => {
    fc.assert(
      fc.property(
        anyJson.chain((value) => fc.tuple(fc.constant(value), anySpelling(value))),
        ([value, spelling]) => {
          const canonical = canonicalJson(value)
          expect(canonicalJson(JSON.parse(spelling))).toBe(canonical)
          expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)))
        },
      ),
    )
  })

  it('differs for different values', () => {
    const few = { maxDepth: 2, stringUnit: fc.constantFrom('a', '"') }
    const likelyEqual = fc.jsonValue(few) as fc.Arbitrary<Json>
    fc.assert(
      fc.property(likelyEqual, likelyEqual, (one, other) => {
        const areEqual = isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))
        expect(canonicalJson(one) === canonicalJson(other)).toBe(areEqual)
      }),
    )
  })

  it('omits members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: { c: undefined } })).toBe('{"a":{}}')
  })
})
