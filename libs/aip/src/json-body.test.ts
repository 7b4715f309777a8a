import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.ts'
import { parseJson } from './json-body.ts'

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
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'grapheme' }), (text) => {
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
    ['endless arrays', nested(200_000, '[', ']'), 'more than 64 levels of nesting at [0][0]'],
  ])('refuses %s', (_, body, message) => {
    const error = refusal(body)
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'MALFORMED_JSON', httpStatus: 400 })
    expect(error.message).toContain(message)
  })

  it('quotes nothing of a malformed body', () => {
    expect(JSON.stringify(refusal('{"password": hunter2}').toBody('r'))).not.toMatch(/password|hunter2/)
  })

  it('takes 64 levels of nesting', () => {
    const text = `{"a": ${nested(63, '[', ']')}}`
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it('names every __proto__, constructor and prototype, wherever it is', () => {
    const error = refusal(`{
      "__proto__": {"prototype": 1},
      "form": {"steps": [{}, {"constructor": null}, {"\\u005f_proto__": []}]}
    }`)
    expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
    expect(error.parts.fieldViolations?.map(({ field }) => field)).toEqual([
      '__proto__',
      '__proto__.prototype',
      'form.steps[1].constructor',
      'form.steps[2].__proto__',
    ])
  })

  it('keeps its answer short, whatever the body', () => {
    const error = refusal(`{"${'k'.repeat(500_000)}": [${Array(20_000).fill('{"__proto__":0}')}]}`)
    expect(error.parts.fieldViolations).toHaveLength(100)
    expect(JSON.stringify(error.toBody('r')).length).toBeLessThan(100_000)
  })
})
