import { DatabaseSync } from 'node:sqlite'
import { type CheckedFilter, checkFilter, compareCodePoints, parseFilter } from '@fms/aip'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { endOfPrefix, filterSql } from './filter-sql.ts'

const fields = { fields: { name: { type: 'string' } }, search: 'name' } as const
const check = (text: string): CheckedFilter => checkFilter(parseFilter(text)!, fields)

describe('endOfPrefix', () => {
  const edges = ['a', '\0', '\uD7FF', '\uE000', '\uFFFF', '\u{10000}', '\u{10FFFF}']
  const anyText = fc.oneof(fc.string({ unit: fc.constantFrom(...edges) }), fc.string({ unit: anyCharacter }))
  const anyPrefix = anyText.filter((text) => text !== '')

  it('bounds exactly the texts that begin with the prefix', () => {
    fc.assert(
      fc.property(anyPrefix, anyText, anyText, (prefix, rest, other) => {
        const end = endOfPrefix(prefix)
        const isInRange = (text: string) =>
          compareCodePoints(text, prefix) >= 0 && (end === undefined || compareCodePoints(text, end) < 0)

        expect(isInRange(prefix + rest)).toBe(true)
        expect(isInRange(other)).toBe(other.startsWith(prefix))
      }),
      { numRuns: 1000 },
    )
  })

  it('lacks the prefix and is well-formed', () => {
    fc.assert(
      fc.property(anyPrefix, (prefix) => {
        const end = endOfPrefix(prefix)
        expect(end?.startsWith(prefix)).not.toBe(true)
        expect(end?.isWellFormed()).not.toBe(false)
      }),
    )
  })

  it.each([
    ['a', 'b'],
    ['\uD7FF', '\uE000'],
    ['\uFFFF', '\u{10000}'],
    ['a\u{10FFFF}', 'b'],
    ['\u{10FFFF}\u{10FFFF}', undefined],
    ['', undefined],
  ])('of %j is %j', (prefix, end) => {
    expect(endOfPrefix(prefix)).toBe(end)
  })
})

describe('filterSql', () => {
  const prepare = (filter: CheckedFilter) => {
    using database = new DatabaseSync(':memory:')
    database.exec('CREATE TABLE rows (name TEXT) STRICT')
    database.function('matchesParts', { deterministic: true }, (_text, _parts) => 1)
    const { sql, values } = filterSql(filter, { name: 'name' })
    return database.prepare(`SELECT * FROM rows WHERE (name = ?) AND (${sql})`).all('', ...values)
  }

  it.each([
    ['60 conditions side by side', 'name=a '.repeat(60)],
    ['60 alternatives', Array(60).fill('name=a').join(' OR ')],
    ['100 nested negations', `${'-('.repeat(100)}a${')'.repeat(100)}`],
    ['a condition at every depth', `${'-(name=a '.repeat(59)}name=a${')'.repeat(59)}`],
    ['many wildcards', `name = ${'a*'.repeat(990)}`],
  ])('converts any filter of 2,000 characters: %s', (_, text) => {
    expect(() => prepare(check(text))).not.toThrow()
  })

  it('keeps the texts of the caller out of the SQL', () => {
    const texts = fc.tuple(fc.string(), fc.string({ minLength: 1 }), fc.string({ minLength: 1 }))
    const sqlOf = ([value, text, rest]: [string, string, string]) =>
      filterSql(
        {
          kind: 'or',
          operands: [
            { kind: 'compare', field: 'name', operator: '=', value },
            { kind: 'not', operand: { kind: 'contains', field: 'name', text } },
            { kind: 'search', field: 'name', text },
            { kind: 'match', field: 'name', parts: [text, rest] },
          ],
        },
        { name: 'name' },
        'foldedName',
      ).sql

    fc.assert(
      fc.property(texts, (some) => {
        expect(sqlOf(some)).toBe(sqlOf(['', 'x', 'x']))
      }),
    )
  })

  it('rejects a field without a column', () => {
    const filter = { kind: 'contains', field: 'replyCount', text: 'x' } as const
    expect(() => filterSql(filter, { name: 'name' })).toThrow('replyCount')
  })
})
