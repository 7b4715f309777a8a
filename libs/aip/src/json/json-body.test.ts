import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../errors.ts'
import { parseJson, parseShallowJson } from './json-body.ts'

const parse = (text: string) => parseJson(Buffer.from(text))

const refusal = (body: string | Uint8Array): ApiError => {
  try {
    parseJson(typeof body === 'string' ? Buffer.from(body) : body)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the body should be refused')
}

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

describe('parseJson', () => {
  it('returns the same value as JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: anyCharacter }), (text) => {
        fc.pre(!/__proto__|constructor|prototype/.test(text))
        expect(parse(text)).toStrictEqual(JSON.parse(text))
      }),
    )
  })

  it.each<[string, unknown]>([
    ['"a\\u0000b"', 'a\0b'],
    ['"\\ud83d\\ude00 😀"', '😀 😀'],
    ['"\ufeff"', '\ufeff'],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['1e-999', 0],
    ['["__proto__", "constructor"]', ['__proto__', 'constructor']],
    ['null', null],
  ])('takes %j', (text, value) => {
    expect(parse(text)).toStrictEqual(value)
  })

  it.each<[string, string | Uint8Array, string]>([
    ['no body', '', 'line 1, column 1: expected a value'],
    ['half a body', '{"form": {"name": "In', 'line 1, column 19: expected a value'],
    ['a byte order mark', '\ufeff{}', 'line 1, column 1: expected a value'],
    ['a trailing comma', '{\n  "a": 1,\n}', 'line 3, column 1: expected a name in double quotes'],
    ['invalid UTF-8', Buffer.from('{"name": "\xff"}', 'latin1'), 'not valid UTF-8'],
    ['a surrogate in UTF-8', Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not valid UTF-8'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'line 1, column 2'],
    ['half a pair', '{"form": {"steps": ["a", "\\ud800"]}}', 'half a surrogate pair at form.steps[1]'],
    ['half a pair in a name', '{"form": {"\\uDC00": 1}}', 'half a surrogate pair at form.\ufffd'],
    ['a reversed pair', '"\\ude00\\ud83d"', 'half a surrogate pair at its top'],
    ['a huge number', '{"a": [1e999]}', 'a number too large for a double at a[0]'],
    ['a hugely negative number', '-1e309', 'a number too large for a double at its top'],
    ['65 arrays', nested(65, '[', ']'), 'more than 64 levels of nesting at [0][0]'],
    ['65 objects', `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 'more than 64 levels of nesting at a.a'],
    ['arrays that never close', '['.repeat(2 ** 20), 'more than 64 levels of nesting at [0][0]'],
    ['endless arrays', nested(200_000, '[', ']'), 'more than 64 levels of nesting at [0][0]'],
  ])('refuses %s', (_, body, message) => {
    const error = refusal(body)
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'MALFORMED_JSON', httpStatus: 400 })
    expect(error.message).toContain(message)
  })

  it('does not quote a malformed body in the error', () => {
    expect(JSON.stringify(refusal('{"password": hunter2}').toBody('r'))).not.toMatch(/password|hunter2/)
  })

  it('takes 64 levels of nesting', () => {
    const text = `{"a": ${nested(63, '[', ']')}}`
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ['{"__proto__": {"prototype": 1}}', '__proto__'],
    ['{"form": {"steps": [{}, {"constructor": null}]}, "prototype": 1}', 'form.steps[1].constructor'],
    ['{"form": {"steps": [{}, {}, {"\\u005f_proto__": []}]}}', 'form.steps[2].__proto__'],
  ])(
    'reports the first member called __proto__, constructor or prototype, at any depth: %s',
    (text, field) => {
      const error = refusal(text)
      expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
      expect(error.parts.fieldViolations).toEqual([{ field, description: 'is not an allowed name' }])
    },
  )

  it('limits the size of the error, whatever the body', () => {
    const error = refusal(`{"${'k'.repeat(500_000)}": [{"__proto__":0}]}`)
    expect(JSON.stringify(error.toBody('r')).length).toBeLessThan(100_000)
  })

  it.each([
    ['{"validateOnly":true,"validateOnly":false}', 'validateOnly'],
    ['{"validateOnly":true,"form":{},"validat\\u0065Only":true}', 'validateOnly'],
    ['{"a":1,"b":2,"b":3,"a":4,"a":5}', 'b'],
    ['{"":1,"":1}', ''],
  ])('rejects a repeated member of the body: %s', (text, field) => {
    const error = refusal(text)
    expect(error).toMatchObject({ reason: 'INVALID_REQUEST', httpStatus: 400 })
    expect(error.parts.fieldViolations).toEqual([{ field, description: 'is given twice' }])
  })

  it('takes the last of repeated nested members, as JSON.parse does', () => {
    expect(parse('{"form":{"name":"a","name":"b"}}')).toEqual({ form: { name: 'b' } })
    expect(parse('[{"a":1,"a":2}]')).toEqual([{ a: 2 }])
  })
})

describe('parseShallowJson', () => {
  const shallow = (text: string) => {
    const { body, nested } = parseShallowJson(Buffer.from(text))
    return { body, nested: Object.fromEntries(nested) }
  }

  it('returns nested objects and arrays as text', () => {
    expect(
      shallow(' {"form": {"a": [1, {}]} , "list":[2],"validateOnly" :true, "n":-1e2,"s":"\\u0061"} '),
    ).toEqual({
      body: { form: {}, list: [], validateOnly: true, n: -100, s: 'a' },
      nested: { form: '{"a": [1, {}]}', list: '[2]' },
    })
  })

  it.each(['[1, {}]', '"text"', '1', 'null', ' true\n'])('takes %s, which has no members', (text) => {
    const { body, nested } = shallow(text)
    expect(body).toEqual(text.startsWith('[') ? [] : JSON.parse(text))
    expect(nested).toEqual({})
  })

  it('returns the same values as parseJson', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (value) => {
        fc.pre(!/__proto__|constructor|prototype/.test(JSON.stringify(value)))
        const { body, nested } = shallow(JSON.stringify(value))
        const texts = Object.fromEntries(
          Object.entries(nested).map(([name, text]) => [name, JSON.parse(text)]),
        )
        expect({ ...(body as object), ...texts }).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('rejects the same bodies as parseJson', () => {
    for (const text of ['{"a":[1e999]}', '{"form":{"__proto__":1}}', '{"a":1,"a":2}', '{"a":', '\ufeff{}']) {
      expect(() => shallow(text)).toThrow(refusal(text).message)
    }
  })

  it('rejects a body with more than 1,000 members', () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"m${i}":1`).join(',')}}`
    expect(Object.keys(shallow(members(1000)).body as object)).toHaveLength(1000)
    expect(() => shallow(members(1001))).toThrow('The body must have at most 1000 members')
    expect(() => parse(members(1001))).toThrow('The body must have at most 1000 members')
    expect(parse(`{"form":${members(1001)}}`)).toBeDefined()
  })
})
