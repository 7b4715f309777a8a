import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkFilter } from './check-filter.ts'
import type { CheckedFilter, OrderOperator } from './checked-filter.ts'
import { evaluateFilter } from './evaluate-filter.ts'
import { foldCase } from './fold-case.ts'
import { parseFilter } from './parse-filter.ts'

const evaluate = (text: string, { name = 'x', createTime = 0 } = {}): boolean => {
  const declared = { name: { type: 'string' }, createTime: { type: 'time' } } as const
  return evaluateFilter(checkFilter(parseFilter(text)!, { fields: declared, search: 'name' }), {
    name,
    createTime,
  })
}

describe('a name', () => {
  it.each([
    ['name = "Intake"', 'Intake', true],
    ['name = "intake"', 'Intake', false],
    ['name != "intake"', 'Intake', true],
    ['name = "*.foo"', 'a.foo', true],
    ['name = "*.foo"', 'afoo', false],
    ['name = "*.foo"', 'a.foo!', false],
    ['name = a*b', 'ab', true],
    ['name = a*b', 'a\nb', true],
    ['name = ab*b', 'ab', false],
    ['name = *a*a*', 'aa', true],
    ['name = *a*a*', 'a', false],
    ['name = *', '', true],
    ['name != a*', 'abc', false],
    [String.raw`name = "\*"`, 'x', false],
    [String.raw`name = "\*"`, '*', true],
    ['name = "a.c"', 'abc', false],
    ['name = "a%"', 'abc', false],
    ['name > "\uFFFD"', '😀', true],
    ['name < "😀"', '\uFFFD', true],
    ['name >= a', 'a', true],
    ['name < a', 'Z', true],
    ['name <= a', 'a\0', false],
    ['name:tak', 'Intake', true],
    ['name:Tak', 'Intake', false],
    ['name:"a*e"', 'Intake', false],
    ['name:"*"', '5 * 3', true],
    ['name:""', '', true],
    ['search("TAKE")', 'Intake', true],
    ['search("σας")', 'ΣΑΣ', true],
    ['search("STRASSE")', 'Straße', false],
    ['search("a*e")', 'Intake', false],
    ['take', 'Intake', true],
    ['in TAKE', 'Intake', true],
    ['in OUT', 'Intake', false],
    ['in AND out OR take', 'Intake', true],
    ['-in', 'Intake', false],
  ])('%s of %j is %s', (text, name, result) => {
    expect(evaluate(text, { name })).toBe(result)
  })

  it('matches many wildcards without backtracking', () => {
    expect(evaluate(`name = ${'*a'.repeat(900)}*b`, { name: 'a'.repeat(100_000) })).toBe(false)
  })
})

describe('a time', () => {
  it('compares at any precision', () => {
    // In tenths of a millisecond, so that integers give the expected result.
    const anyTenths = fc.integer({ min: 0, max: 9999 })
    const holds: Record<string, (a: number, b: number) => boolean> = {
      '=': (a, b) => a === b,
      '!=': (a, b) => a !== b,
      '<': (a, b) => a < b,
      '<=': (a, b) => a <= b,
      '>': (a, b) => a > b,
      '>=': (a, b) => a >= b,
    }
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(holds)),
        fc.integer({ min: 0, max: 999 }),
        anyTenths,
        fc.boolean(),
        (operator, createTime, tenths, near) => {
          const literal = near ? createTime * 10 + (tenths % 3) : tenths
          const time = `1970-01-01T00:00:00.${String(literal).padStart(4, '0')}Z`
          expect(evaluate(`createTime ${operator} ${time}`, { createTime })).toBe(
            holds[operator]!(createTime * 10, literal),
          )
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('any filter', () => {
  const anyText = fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'Σ', 'ς', '*', '😀', '\uFFFD'),
    maxLength: 6,
  })
  const anyOperator = fc.constantFrom<OrderOperator>('=', '<', '<=', '>', '>=')
  const field = fc.constant('name')
  const { node: anyFilter } = fc.letrec<{ node: CheckedFilter }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.record({ kind: fc.constant('constant'), value: fc.boolean() }),
      fc.record({ kind: fc.constant('compare'), field, operator: anyOperator, value: anyText }),
      fc.record({
        kind: fc.constant('match'),
        field,
        parts: fc.array(anyText, { minLength: 2, maxLength: 4 }),
      }),
      fc.record({ kind: fc.constant('contains'), field, text: anyText }),
      fc.record({ kind: fc.constant('search'), field, text: anyText.map(foldCase) }),
      fc.record({ kind: fc.constant('not'), operand: tie('node') }),
      fc.record({ kind: fc.constantFrom('and', 'or'), operands: fc.array(tie('node'), { minLength: 2 }) }),
    ) as fc.Arbitrary<CheckedFilter>,
  }))
  const anyRow = fc.record({ name: anyText })

  it('and its negation never match the same row', () => {
    fc.assert(
      fc.property(anyFilter, anyRow, (operand, row) => {
        expect(evaluateFilter({ kind: 'not', operand }, row)).toBe(!evaluateFilter(operand, row))
      }),
    )
  })

  it('with OR equals the negated AND of negated operands (De Morgan)', () => {
    const negate = (operand: CheckedFilter): CheckedFilter => ({ kind: 'not', operand })
    fc.assert(
      fc.property(fc.array(anyFilter), anyRow, (operands, row) => {
        const neither = negate({ kind: 'and', operands: operands.map(negate) })
        expect(evaluateFilter({ kind: 'or', operands }, row)).toBe(evaluateFilter(neither, row))
      }),
    )
  })

  it('matches and searches as a regular expression would', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 2, maxLength: 4 }), anyText, (parts, name) => {
        const [pattern, text] = [parts.map(RegExp.escape).join('.*'), parts[0]!]
        expect(evaluateFilter({ kind: 'match', field: 'name', parts }, { name })).toBe(
          new RegExp(`^(?:${pattern})$`, 'su').test(name),
        )
        expect(evaluateFilter({ kind: 'search', field: 'name', text: foldCase(text) }, { name })).toBe(
          new RegExp(RegExp.escape(text), 'iu').test(name),
        )
      }),
      { numRuns: 1000 },
    )
  })
})
