import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExpressionError } from '../filter/expression-error.ts'
import { parseOrderBy } from './order-by.ts'

const fields = ['name', 'createTime', 'updateTime']

const parseError = (text: string): ExpressionError => {
  try {
    parseOrderBy(text, fields)
  } catch (error) {
    if (error instanceof ExpressionError) return error
  }
  throw new Error(`${text} should be refused`)
}

describe('parseOrderBy', () => {
  it("reads the AIP's own examples", () => {
    const foobar = [
      { field: 'foo', descending: false },
      { field: 'bar', descending: false },
    ]
    expect(parseOrderBy('foo,bar', ['foo', 'bar'])).toEqual(foobar)
    expect(parseOrderBy('  foo  ,  bar  ', ['foo', 'bar'])).toEqual(foobar)
    expect(parseOrderBy('foo desc, bar', ['foo', 'bar'])).toEqual([
      { field: 'foo', descending: true },
      { field: 'bar', descending: false },
    ])
  })

  it.each(['', ' ', '\t\n'])('parses %j as no order', (text) => {
    expect(parseOrderBy(text, fields)).toEqual([])
  })

  it.each<[string, number, string]>([
    ['title', 1, 'one of name, createTime, updateTime'],
    ['  Name', 3, 'one of name, createTime, updateTime'],
    ['__proto__', 1, 'one of name, createTime, updateTime'],
    ['name,', 6, 'one of name, createTime, updateTime'],
    [',name', 1, 'one of name, createTime, updateTime'],
    ['name,,createTime', 6, 'one of name, createTime, updateTime'],
    ['name, 😀, x', 7, 'one of name, createTime, updateTime'],
    ['name 😀 ', 6, 'asc, desc, a comma or the end'],
    ['name DESC', 6, 'asc, desc, a comma or the end'],
    ['name createTime', 6, 'asc, desc, a comma or the end'],
    ['name desc asc', 11, 'a comma or the end'],
    ['name 😀, 😀', 6, 'asc, desc, a comma or the end'],
    ['createTime desc, name, createTime', 24, 'a field other than createTime, which is already named'],
  ])('refuses %j at column %d', (text, column, expected) => {
    expect(parseError(text)).toMatchObject({
      column,
      expected,
      message: `column ${column}: expected ${expected}`,
    })
  })

  it('parses any order, with any white space', () => {
    const space = fc.stringMatching(/^[ \t\n]{1,3}$/)
    const freeSpace = fc.oneof(fc.constant(''), space)
    const term = fc.record({
      descending: fc.boolean(),
      explicit: fc.boolean(),
      space,
      before: freeSpace,
      after: freeSpace,
    })
    fc.assert(
      fc.property(
        fc.shuffledSubarray(fields, { minLength: 1 }),
        fc.array(term, { minLength: 3 }),
        (names, terms) => {
          const parts = names.map((field, index) => ({ field, ...terms[index]! }))
          const text = parts.map(({ field, descending, explicit, space, before, after }) => {
            const direction = descending ? `${space}desc` : explicit ? `${space}asc` : ''
            return `${before}${field}${direction}${after}`
          })
          expect(parseOrderBy(text.join(','), fields)).toEqual(
            parts.map(({ field, descending }) => ({ field, descending })),
          )
        },
      ),
    )
  })

  it('throws only an ExpressionError, with a column in the text or just after it', () => {
    const word = fc.oneof(fc.constantFrom('name', 'createTime', 'asc', 'desc', ',', ' ', '😀'), fc.string())
    fc.assert(
      fc.property(
        fc.array(word).map((words) => words.join('')),
        (text) => {
          try {
            parseOrderBy(text, fields)
          } catch (error) {
            expect(error).toBeInstanceOf(ExpressionError)
            expect((error as ExpressionError).column).toBeGreaterThan(0)
            expect((error as ExpressionError).column).toBeLessThanOrEqual([...text].length + 1)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
