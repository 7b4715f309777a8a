import { describe, expect, it } from 'vitest'
import { checkFilter, type FilterFields } from './check-filter.ts'
import { ExpressionError } from './expression-error.ts'
import { parseFilter } from './parse-filter.ts'

const fields: FilterFields = {
  fields: {
    name: { type: 'string' },
    type: { type: 'enum', values: ['structured', 'dynamic'] },
    createTime: { type: 'time' },
    'owner.name': { type: 'string' },
  },
  search: 'name',
}
const { search, ...withoutSearch } = fields
const everyField = 'one of the fields name, type, createTime, owner.name'

const check = (text: string, declared = fields) => checkFilter(parseFilter(text)!, declared)

const refuse = (text: string, declared = fields): string => {
  try {
    check(text, declared)
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
  throw new Error(`checkFilter took ${text}`)
}

const not = (operand: unknown) => ({ kind: 'not', operand })
const never = { kind: 'constant', value: false }
const always = { kind: 'constant', value: true }

describe('a pattern', () => {
  const declared: FilterFields = { fields: { type: { type: 'pattern' } } }

  it.each([
    ['type = form.created', { kind: 'compare', field: 'type', operator: '=', value: 'form.created' }],
    ['type = "form.*"', { kind: 'match', field: 'type', parts: ['form.', ''] }],
    ['type != form.*', not({ kind: 'match', field: 'type', parts: ['form.', ''] })],
  ])('takes %s', (text, expected) => {
    expect(check(text, declared)).toEqual(expected)
  })

  it.each([
    ['type:form', 5],
    ['type < x', 6],
    ['type >= x', 6],
  ])('rejects %s', (text, column) => {
    expect(refuse(text, declared)).toBe(`column ${column}: expected = or != after type`)
  })
})

describe('a UUID', () => {
  const declared: FilterFields = { fields: { form: { type: 'uuid' } } }
  const id = '8C2F4F0A-52BE-4f0b-a6a4-1f1d6f2b7c11'

  it('takes = and != in any letter case', () => {
    const equal = { kind: 'compare', field: 'form', operator: '=', value: id.toLowerCase() }

    expect(check(`form = ${id}`, declared)).toEqual(equal)
    expect(check(`form != "${id}"`, declared)).toEqual(not(equal))
  })

  it.each([
    ['form = Ab3dE6gH9j', 'column 8: expected a UUID'],
    ['form = *', 'column 8: expected a UUID'],
    [`form > ${id}`, 'column 6: expected = or != after form'],
    [`form:${id}`, 'column 5: expected = or != after form'],
  ])('rejects %s', (text, message) => {
    expect(refuse(text, declared)).toBe(message)
  })
})

describe('a string', () => {
  it.each(['=', '<', '<=', '>', '>='])('takes %s', (operator) => {
    expect(check(`name ${operator} "x"`)).toEqual({ kind: 'compare', field: 'name', operator, value: 'x' })
  })

  it.each([
    ['name != x', not({ kind: 'compare', field: 'name', operator: '=', value: 'x' })],
    ['name = "*.foo"', { kind: 'match', field: 'name', parts: ['', '.foo'] }],
    ['name != a*b*', not({ kind: 'match', field: 'name', parts: ['a', 'b', ''] })],
    ['name = ***a***b***', { kind: 'match', field: 'name', parts: ['', 'a', 'b', ''] }],
    ['name = **', { kind: 'match', field: 'name', parts: ['', ''] }],
    [String.raw`name = "a\*"`, { kind: 'compare', field: 'name', operator: '=', value: 'a*' }],
    [String.raw`name > "a\*"`, { kind: 'compare', field: 'name', operator: '>', value: 'a*' }],
    ['name = ""', { kind: 'compare', field: 'name', operator: '=', value: '' }],
    ['name:x', { kind: 'contains', field: 'name', text: 'x' }],
    ['name:"a*b"', { kind: 'contains', field: 'name', text: 'a*b' }],
    ['name:"*"', { kind: 'contains', field: 'name', text: '*' }],
    [String.raw`name:\*`, { kind: 'contains', field: 'name', text: '*' }],
    ['name:""', always],
    ['owner.name = x', { kind: 'compare', field: 'owner.name', operator: '=', value: 'x' }],
    ['"name" = x', { kind: 'compare', field: 'name', operator: '=', value: 'x' }],
  ])('%s', (text, checked) => {
    expect(check(text)).toEqual(checked)
  })

  it.each([
    ['name:*', 'column 6: expected a text after : (a literal star is \\*)'],
    ['name < "a*"', 'column 8: expected a text without wildcards after < (a literal star is \\*)'],
  ])('%s: %s', (text, message) => {
    expect(refuse(text)).toBe(message)
  })
})

describe('an enum', () => {
  it('takes = and != with one of its values', () => {
    const structured = { kind: 'compare', field: 'type', operator: '=', value: 'structured' }
    expect(check('type = structured')).toEqual(structured)
    expect(check('type != "structured"')).toEqual(not(structured))
  })

  it.each([
    ['type < structured', 'column 6: expected = or != after type'],
    ['type:structured', 'column 5: expected = or != after type'],
    ['type = STRUCTURED', 'column 8: expected one of structured, dynamic'],
    ['type != struct*', 'column 9: expected one of structured, dynamic'],
  ])('%s: %s', (text, message) => {
    expect(refuse(text)).toBe(message)
  })
})

describe('a time', () => {
  const at = (operator: string, epochMs: number) => ({
    kind: 'compareTime',
    field: 'createTime',
    operator,
    epochMs,
  })

  it.each(['=', '<', '<=', '>', '>='])('takes %s', (operator) => {
    expect(check(`createTime ${operator} 1970-01-01T01:00:00.01+01:00`)).toEqual(at(operator, 10))
  })

  it.each([
    ['createTime != "1970-01-01T00:00:00Z"', not(at('=', 0))],
    ['createTime > 1970-01-01T00:00:00.0105Z', at('>', 10)],
    ['createTime >= 1970-01-01T00:00:00.0105Z', at('>', 10)],
    ['createTime < 1970-01-01T00:00:00.0105Z', at('<=', 10)],
    ['createTime <= 1970-01-01T00:00:00.0105Z', at('<=', 10)],
    ['createTime = 1970-01-01T00:00:00.0105Z', never],
    ['createTime != 1970-01-01T00:00:00.0105Z', not(never)],
  ])('%s', (text, checked) => {
    expect(check(text)).toEqual(checked)
  })

  it.each(['"2026-02-30T00:00:00Z"', "'2026-01-01T00:00:00'", '2026-01-01', '2026-*', '"*"', 'yesterday'])(
    'refuses %s',
    (text) => {
      expect(refuse(`createTime > ${text}`)).toBe(
        'column 14: expected an RFC 3339 time with offset, such as 2026-01-31T09:30:00Z',
      )
    },
  )

  it('refuses the has operator', () => {
    expect(refuse('createTime:2026')).toBe('column 11: expected =, !=, <, <=, > or >= after createTime')
  })
})

describe('a search', () => {
  it.each([
    ['search("FeedBack")', 'feedback'],
    ["search('a*b')", 'a*b'],
    ['Feedback', 'feedback'],
    ['"Feedback text"', 'feedback text'],
    ['com.google*', 'com.google*'],
  ])('%s searches for %s', (text, folded) => {
    expect(check(text)).toEqual({ kind: 'search', field: 'name', text: folded })
  })

  it.each(['search("")', '""'])('%s matches every row', (text) => {
    expect(check(text)).toEqual(always)
  })

  it.each([
    ['search()', 'column 1: expected one text in quotes, as in search("text")'],
    ['search(name)', 'column 8: expected one text in quotes, as in search("text")'],
    ['search("a", "b")', 'column 13: expected one text in quotes, as in search("text")'],
    ['a AND find("a")', 'column 7: expected search, the only function'],
    ["math.mem('30mb')", 'column 1: expected search, the only function'],
  ])('%s: %s', (text, message) => {
    expect(refuse(text)).toBe(message)
  })

  it.each(['feedback', 'search("feedback")', 'search()', 'find()'])(
    'is an error where the list has no search field: %s',
    (text) => {
      expect(refuse(text, withoutSearch)).toBe(`column 1: expected a comparison of ${everyField}`)
    },
  )
})

describe('a field that is not declared', () => {
  it.each([
    'replyCount',
    '__proto__',
    'constructor',
    'toString',
    'Name',
    'owner.x',
    'owner',
    'type.x',
    '"na me"',
  ])('refuses %s', (field) => {
    expect(refuse(`a AND NOT ${field} = 1`)).toBe(`column 11: expected ${everyField}`)
  })

  it('counts its column in code points', () => {
    expect(refuse('😀 nom = 1')).toBe(`column 3: expected ${everyField}`)
  })
})

it('keeps the structure', () => {
  const search = (text: string) => ({ kind: 'search', field: 'name', text })
  expect(check('a AND -(b OR c)')).toEqual({
    kind: 'and',
    operands: [search('a'), not({ kind: 'or', operands: [search('b'), search('c')] })],
  })
})
