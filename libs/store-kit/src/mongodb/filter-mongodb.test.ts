import { type CheckedFilter, checkFilter, matchesParts, parseFilter } from '@fms/aip'
import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filterMongodb } from './filter-mongodb.ts'

const fields = { fields: { name: { type: 'string' } }, search: 'name' } as const
const check = (text: string): CheckedFilter => checkFilter(parseFilter(text)!, fields)
const translate = (filter: CheckedFilter) => filterMongodb(filter, { name: 'name' }, 'foldedName')!

/** The depth of a value as BSON. MongoDB accepts 100 levels of conditions and 200 of BSON. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const namesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [
        ...(Array.isArray(value) ? [] : [name]),
        ...namesOf(inner),
      ])
    : []

describe('filterMongodb', () => {
  it.each([
    ['name = a', { name: { $eq: 'a' } }],
    ['name != a', { name: { $ne: 'a' } }],
    ['NOT name < a', { name: { $gte: 'a' } }],
    ['name <= a', { name: { $lt: 'a\0' } }],
    ['NOT name > a', { name: { $lt: 'a\0' } }],
    ['name = "a*"', { name: { $gte: 'a', $lt: 'b', $regex: '^a', $options: 's' } }],
    ['name = "*a"', { name: { $regex: 'a(?!.)', $options: 's' } }],
    ['name = "a*b"', { name: { $gte: 'a', $lt: 'b', $regex: '^a.*b(?!.)', $options: 's' } }],
    ['name = "a*b*c"', { name: { $gte: 'a', $lt: 'b', $regex: '^a(?:(?!b).)*b.*c(?!.)', $options: 's' } }],
    ['name = *', {}],
    ['name != *', undefined],
    ['-name:x', { $nor: [{ name: { $regex: 'x' } }] }],
    ['ABC', { foldedName: { $regex: 'abc' } }],
    ['NOT (name = a AND name = b)', { $or: [{ name: { $ne: 'a' } }, { name: { $ne: 'b' } }] }],
    ['name = a name = b AND name = c', { $and: [...'abc'].map((text) => ({ name: { $eq: text } })) }],
    ['name = a OR name = *', {}],
  ])('converts %s', (text, query) => {
    expect(translate(check(text))).toEqual(query)
  })

  it('escapes only characters that are operators in some dialect', () => {
    const query = translate({ kind: 'contains', field: 'name', text: 'a-b #1/ü😀\n\0 \\^$.|?*+()[]{}' })

    expect(query.name.$regex).toBe('a-b #1/ü😀\n\\x00 \\\\\\^\\$\\.\\|\\?\\*\\+\\(\\)\\[\\]\\{\\}')
  })

  it('matches exactly a text of any characters', () => {
    const anyText = fc.string({
      unit: fc.oneof(fc.constantFrom(...'\\^$.|?*+()[]{}\0'), anyCharacter),
      minLength: 1,
    })
    fc.assert(
      fc.property(anyText, (text) => {
        const query = translate({ kind: 'contains', field: 'name', text })
        // The flag u rejects escapes that are not valid in all dialects.
        expect(new RegExp(query.name.$regex, 'u').exec(`before${text}after`)?.[0]).toBe(text)
        expect(query.name.$regex).not.toContain('\0')
      }),
      { numRuns: 1000 },
    )
  })

  it('matches wildcards like evaluateFilter, line ends included', () => {
    const anyText = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\0', '\u{1f600}'), maxLength: 4 })
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 2, maxLength: 6 }), anyText, (parts, text) => {
        const query = translate({ kind: 'match', field: 'name', parts })
        const regex = new RegExp(query.name?.$regex ?? '', 'su')
        expect(regex.test(text)).toBe(matchesParts(text, parts))
      }),
      { numRuns: 2000 },
    )
  })

  it('never uses text of the caller as an operator or field', () => {
    const anyText = fc.oneof(
      fc.constantFrom('$ne', '$where', 'a.b', '{"$gt":""}'),
      fc.string({ minLength: 1 }),
    )
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const query = translate({
          kind: 'or',
          operands: [
            { kind: 'compare', field: 'name', operator: '=', value: text },
            { kind: 'not', operand: { kind: 'contains', field: 'name', text } },
            { kind: 'search', field: 'name', text },
            { kind: 'match', field: 'name', parts: [text, other] },
          ],
        })
        const expected = ['$or', '$nor', '$eq', '$gte', '$lt', '$regex', '$options', 'name', 'foldedName']
        expect(namesOf(query).filter((name) => !expected.includes(name))).toEqual([])
      }),
    )
  })

  it('compares times up to and including a millisecond, or a part of one', () => {
    const upTo = (epochMs: number): CheckedFilter => ({
      kind: 'compareTime',
      field: 'createTime',
      operator: '<=',
      epochMs,
    })
    const queryOf = (epochMs: number) => filterMongodb(upTo(epochMs), { createTime: 'createTime' })

    expect(queryOf(1000)).toEqual({ createTime: { $lt: 1001 } })
    expect(queryOf(1000.5)).toEqual({ createTime: { $lt: 1001 } })
  })

  it('matches many stars without trying every way to place them', () => {
    const { $regex } = translate(check(`name = "*${'a*'.repeat(30)}b"`)).name

    // Longer than what has to match: an engine gives up at once on a shorter text.
    expect(new RegExp($regex, 's').test('a'.repeat(200))).toBe(false)
  })

  it('converts the most stars of a filter to less than MongoDB accepts', () => {
    const { $regex } = translate(check(`name = "*${'a*'.repeat(990)}b"`)).name

    // MongoDB accepts 32,764 bytes, PCRE2 one of 64 KiB once it is compiled.
    expect($regex.length).toBeLessThan(16 * 1024)
  })

  it('nests the most conditions of a filter as deep as MongoDB accepts', () => {
    const query = translate(check(`${'-(name = a OR '.repeat(59)}name = b${')'.repeat(59)}`))

    expect(depthOf(query)).toBeLessThan(180)
  })

  it('rejects a field without a document field', () => {
    expect(() => translate({ kind: 'contains', field: 'replyCount', text: 'x' })).toThrow('replyCount')
  })
})
