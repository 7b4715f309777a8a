import { Form } from '@fms/contracts'
import { createFormArbitrary } from '@fms/contracts/arbitrary'
import { anyCharacter } from '@fms/testkit/any-character'
import { cutToMask } from '@fms/testkit/cut-to-mask'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../json/json.ts'
import { cutJson } from './cut-json.ts'
import { maskSchemaOf, parseReadMask, type ReadMask } from './read-mask.ts'

const maskOf = (text: string): ReadMask => parseReadMask(text, maskSchemaOf(Form))!

/** Any JSON, with member names that masks can name and others. */
const anyJson = fc.letrec<{ object: Json; value: Json }>((tie) => ({
  object: fc.dictionary(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'a-b', '__proto__') },
      { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
    ),
    tie('value'),
    { maxKeys: 5 },
  ) as fc.Arbitrary<Json>,
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>('', '"', '\\', '{"a":1}', '],[', -1.5e-7, 0, true, false, null),
    fc.string({ unit: anyCharacter }),
    tie('object'),
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Json>,
  ),
})).object

const anyPath = fc.array(fc.constantFrom('a', 'b', 'c', 'a-b', '__proto__'), { minLength: 1, maxLength: 3 })
const anyMask = fc
  .array(anyPath, { minLength: 1, maxLength: 5 })
  .map((paths) => paths.map((path) => path.join('.')).join())

describe('cutJson', () => {
  it.each([
    ['name', '{"name":"x"}'],
    ['live,theme.textSize', '{"live":false,"theme":{"textSize":"large"}}'],
    ['theme', '{"theme":{"primaryColor":"#fff","textSize":"large"}}'],
    ['theme.buttonSize', '{"theme":{}}'],
    ['tone', '{}'],
    ['i18n.translations.de', '{"i18n":{"translations":{}}}'],
  ])('cuts a form to %s', (mask, expected) => {
    const json =
      '{"i18n":{"translations":{}},"live":false,"name":"x","theme":{"primaryColor":"#fff","textSize":"large"}}'

    expect(cutJson(json, maskOf(mask))).toBe(expected)
  })

  it('gives the members that a path reaches, for any JSON and mask', () => {
    const members = {
      kind: 'map',
      entry: { kind: 'map', entry: { kind: 'map', entry: { kind: 'value' } } },
    } as const
    fc.assert(
      fc.property(anyJson, anyMask, (value, mask) => {
        const readMask = parseReadMask(mask, members)

        expect(JSON.parse(cutJson(JSON.stringify(value), readMask!))).toEqual(cutToMask(value, mask))
      }),
      { numRuns: 2_000 },
    )
  })

  it('ends for any text that is cut off', () => {
    const json = '{"description":"a\\\\\\"b","steps":[{"key":"{"},[1,true]],"live":false}'
    const outcomes = Array.from(json, (_, length) => {
      try {
        return cutJson(json.slice(0, length), maskOf('live,name'))
      } catch (error) {
        return (error as Error).message
      }
    })

    expect(new Set(outcomes)).toContain('The JSON text ends within a value')
  })

  it('returns whole members byte for byte', () => {
    fc.assert(
      fc.property(createFormArbitrary, (fields) => {
        const form = JSON.parse(JSON.stringify({ ...fields, name: 'x' }))

        expect(cutJson(JSON.stringify(form), maskOf(Object.keys(Form.shape).join()))).toBe(
          JSON.stringify(form),
        )
      }),
      { numRuns: 200 },
    )
  })
})
