import { anyCharacter } from '@fms/testkit/any-character'
import { costOfSize } from '@fms/testkit/machine/cpu-time'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExpressionError } from './expression-error.ts'
import type { Comparator, FilterNode, Literal } from './filter-node.ts'
import { parseFilter } from './parse-filter.ts'

/** A node as text with all parentheses; equal trees have equal texts. */
const print = (node: FilterNode): string => {
  switch (node.kind) {
    case 'and':
    case 'or':
      return `(${node.operands.map(print).join(` ${node.kind.toUpperCase()} `)})`
    case 'not':
      return `(NOT ${print(node.operand)})`
    case 'comparison':
      return `${node.field.text} ${node.comparator.text} ${printLiteral(node.value)}`
    case 'call':
      return `${node.name.text}(${node.args.map(printLiteral).join(', ')})`
    case 'text':
      return printLiteral(node.text)
  }
}

const printLiteral = ({ parts, quoted }: Literal): string => {
  const text = parts.map(quoted ? escapeQuoted : escapeBare).join('*')
  return quoted ? `"${text}"` : text
}

const escapeQuoted = (text: string) => text.replace(/[\\"*]/g, '\\$&')
const escapeBare = (text: string) =>
  text.replace(/[^a-z0-9]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const read = (text: string): string => print(parseFilter(text)!)

const readValue = (text: string): string => {
  const node = parseFilter(`a = ${text}`)
  if (node?.kind !== 'comparison' || node.value.parts.length !== 1) throw new Error('not a plain literal')
  return node.value.parts[0]!
}

const refuse = (text: string): string => {
  try {
    parseFilter(text)
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
  throw new Error(`parseFilter took ${text}`)
}

describe('the precedence of AIP-160', () => {
  it.each([
    ['a AND b OR c', 'a AND (b OR c)'],
    ['a OR b OR c', '(a OR b OR c)'],
    ['a b AND c AND d', '(a b) AND c AND d'],
    ['New York Giants OR Yankees', 'New York (Giants OR Yankees)'],
    ['Victor Hugo', 'Victor AND Hugo'],
    ['a b OR c AND d', '(a AND (b OR c)) AND d'],
    ['NOT a OR b', '(NOT a) OR b'],
    ['-a b', '(NOT a) AND b'],
  ])('%s reads as %s', (text, explicit) => {
    expect(read(text)).toBe(read(explicit))
  })

  it.each([
    ['NOT (a OR b)', '(NOT (a OR b))'],
    ['-file:".java"', '(NOT file : ".java")'],
    ['-30', '(NOT 30)'],
    ['a < 10 OR a >= 100', '(a < 10 OR a >= 100)'],
    ['(((a)))', 'a'],
  ])('%s reads as %s', (text, tree) => {
    expect(read(text)).toBe(tree)
  })
})

describe('a condition', () => {
  it.each([
    ['package=com.google', 'package = com\\u002egoogle'],
    ["msg != 'hello'", 'msg != "hello"'],
    ['1 > 0', '1 > 0'],
    ['2.5 >= 2.4', '2.5 >= 2\\u002e4'],
    ['map:key', 'map : key'],
    ['prod', 'prod'],
    ['a.b.c = "foo"', 'a.b.c = "foo"'],
    ['a = "*.foo"', 'a = "*.foo"'],
    ["math.mem('30mb')", 'math.mem("30mb")'],
    ["regex(m.key, '^.*prod.*$')", 'regex(m\\u002ekey, "^.*prod.*$")'],
    ['search()', 'search()'],
    ['"feedback text"', '"feedback text"'],
    ['a<=1', 'a <= 1'],
    ['a  \n:\t b', 'a : b'],
    ['a = -5', 'a = \\u002d5'],
    ['a = f*k*', 'a = f*k*'],
  ])('%s is read (%s)', (text, tree) => {
    expect(read(text)).toBe(tree)
  })

  it('has the columns of its parts, in code points', () => {
    expect(parseFilter('"😀" name = "x"')).toMatchObject({
      operands: [
        { text: { column: 1 } },
        { field: { column: 5 }, comparator: { column: 10 }, value: { column: 12 } },
      ],
    })
  })

  it('takes a time without quotes', () => {
    expect(readValue('2012-04-21T11:30:00-04:00')).toBe('2012-04-21T11:30:00-04:00')
    expect(readValue('2026-01-01T00:00:00.25z')).toBe('2026-01-01T00:00:00.25z')
  })

  it.each(['2026-01-01T00:00:00Z', '-2026-01-01T00:00:00.5+01:00'])('%s is a bare literal', (text) => {
    const { node } = /^(?<not>-?)(?<node>.*)$/.exec(text)!.groups!
    const found = parseFilter(text)
    expect(found?.kind === 'not' ? found.operand : found).toMatchObject({
      kind: 'text',
      text: { parts: [node] },
    })
  })

  it.each(['', ' ', '\t\r\n\u00a0\u3000'])('%j is no filter', (text) => {
    expect(parseFilter(text)).toBeUndefined()
  })
})

describe('a literal', () => {
  it.each([
    [String.raw`"a\\b"`, 'a\\b'],
    [String.raw`"\"\'"`, '"\''],
    [String.raw`'"\''`, '"\''],
    [String.raw`"\n\t\r"`, '\n\t\r'],
    [String.raw`"\u00e9\uD83D\ude00"`, 'é😀'],
    [String.raw`"\*"`, '*'],
    [String.raw`a\*b`, 'a*b'],
    ['"(a OR b) AND = "', '(a OR b) AND = '],
    ['""', ''],
    ['.$^{}[]|?%_/#@+;&~', '.$^{}[]|?%_/#@+;&~'],
    ['android', 'android'],
    ['ANDROID', 'ANDROID'],
  ])('%s is %j', (text, value) => {
    expect(readValue(text)).toBe(value)
  })

  it('distinguishes a wildcard from an escaped star', () => {
    expect(parseFilter(String.raw`a = "x*\**"`)).toMatchObject({
      value: { parts: ['x', '*', ''], quoted: true },
    })
    expect(parseFilter('a = *')).toMatchObject({ value: { parts: ['', ''], quoted: false } })
  })

  it.each([String.raw`"\q"`, String.raw`"\u12"`, String.raw`"\u12g4"`, String.raw`'\U0041'`])(
    '%s has an unknown escape',
    (text) => {
      expect(refuse(text)).toBe(
        String.raw`column 3: expected one of the escapes \\, \", \', \*, \n, \t, \r or \uXXXX`,
      )
    },
  )

  it.each([String.raw`"\ud800"`, '"\udc00"', 'a\ud800b', String.raw`"\ud83d*\ude00"`])(
    '%j has half a surrogate pair',
    (text) => {
      expect(refuse(text)).toBe('column 1: expected text without half a surrogate pair')
    },
  )
})

describe('keywords', () => {
  it.each(['a and b', 'a or b', 'a not b', 'a ANDROID b', 'a ORANGE b', 'a NOTE b', 'a "AND" b'])(
    'are upper case, whole words and without quotes, so that "%s" is three texts',
    (text) => {
      expect(parseFilter(text)).toMatchObject({ kind: 'and', operands: Array(3).fill({ kind: 'text' }) })
    },
  )

  it('need no space next to a parenthesis or a quote', () => {
    expect(read('NOT(a)AND(b)')).toBe('((NOT a) AND b)')
  })
})

describe('an error', () => {
  it.each([
    ['name =', 'column 7: expected a value'],
    ['name = AND', 'column 8: expected a value'],
    ['name == "x"', 'column 7: expected a value'],
    ['name = (a OR b)', 'column 8: expected a value'],
    ['a AND', 'column 6: expected a condition'],
    ['a OR', 'column 5: expected a condition'],
    ['a AND AND b', 'column 7: expected a condition'],
    ['a OR AND b', 'column 6: expected a condition'],
    ['AND a', 'column 1: expected a condition or the end'],
    ['NOT', 'column 4: expected a condition'],
    ['NOT NOT a', 'column 5: expected a condition'],
    ['NOT -a', 'column 5: expected a condition'],
    ['--a', 'column 2: expected a condition'],
    ['- a', 'column 2: expected a condition'],
    ['()', 'column 2: expected a condition'],
    ['(a = 1', 'column 7: expected OR, AND or ")"'],
    ['a = 1)', 'column 6: expected OR, AND or the end'],
    ['(a)(b)', 'column 4: expected OR, AND or the end'],
    ['a = b = c', 'column 7: expected OR, a condition, AND or the end'],
    ['a = f(b)', 'column 6: expected OR, AND or the end'],
    ['a, b', 'column 2: expected a comparison, OR, AND or the end'],
    ['f(', 'column 3: expected a value or ")"'],
    ['f("a" "b")', 'column 7: expected a comma or ")"'],
    ['"abc', 'column 5: expected a closing "'],
    ['\'abc"', "column 6: expected a closing '"],
    ['"😀" 😀 )', 'column 7: expected a comparison, OR, a condition, AND or the end'],
  ])('%s: %s', (text, message) => {
    expect(refuse(text)).toBe(message)
  })

  // decisions, section 4: "Within an unquoted word or right-hand side a `:` is an error unless the whole of it is an
  // RFC 3339 time; a word that is `.` alone, begins or ends with a dot, or has two in a row, is an error."
  it.each([
    ['name = a:b', 8],
    ['a:b:c', 3],
    ['name = :', 8],
    ['name = 12:30', 8],
    ['createTime > 2026-02-30T00:00:00Z', 14],
    ['createTime > 2026-01-01T00:00:60Z', 14],
    ['createTime > 2026-01-01T00:00:00', 14],
    ['search(a:b)', 8],
  ])('reports a colon outside a time: %s', (text, column) => {
    expect(refuse(text)).toBe(
      `column ${column}: expected an RFC 3339 time with offset, such as 2026-01-31T09:30:00Z, or quotes around a text with a colon`,
    )
  })

  it.each(['.', '..', 'a.', '.a', 'a..b', '.*', 'a. = 1', '.a:b', 'a..b("x")'])(
    'a word with a stray dot: %s',
    (word) => {
      expect(refuse(`x -${word}`)).toBe(
        'column 4: expected a word without a dot at its ends, or two in a row',
      )
    },
  )

  it('does not occur for quoted or escaped dots and colons, nor for dots on the right', () => {
    for (const text of ['name = "a:b"', '"a..b"', 'a\\u002e', 'name = a\\u003ab', 'name = .x..']) {
      expect(parseFilter(text)).toBeDefined()
    }
  })

  it('has a column and the expected text', () => {
    expect(() => parseFilter('a AND')).toThrow(
      expect.objectContaining({ name: 'ExpressionError', column: 6, expected: 'a condition' }),
    )
  })
})

describe('size', () => {
  it('takes 100 parentheses within each other, and no more', () => {
    const nested = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`
    expect(read(nested(100))).toBe('a')
    expect(refuse(nested(101))).toBe('column 101: expected at most 100 parentheses within each other')
    expect(read(`${nested(60)} ${nested(60)}`)).toBe('(a AND a)')
  })

  it.each(['AND', 'OR', ''])('takes 60 conditions with "%s" between them', (keyword) => {
    const node = parseFilter(Array(60).fill('a = b').join(` ${keyword} `))
    expect(node).toMatchObject({ operands: { length: 60 } })
  })

  it.each([
    '(',
    ')',
    '-',
    '- ',
    'NOT ',
    '(a ',
    '(NOT ',
    'a OR ',
    'a AND ',
    'a ',
    ' ',
    'a(',
    '"',
    "'",
    'a:',
    '*',
    '\\',
    '😀',
  ])('parses 2,000 characters of %j in linear time', async (text) => {
    const parse = (size: number) => {
      try {
        parseFilter(text.repeat(size / text.length))
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError)
      }
    }

    expect(costOfSize(2000, parse)).toBeLessThan(8)
  })
})

describe('any text', () => {
  const fragment = fc.constantFrom(
    '(',
    ')',
    'AND',
    'OR',
    'NOT',
    '-',
    ' ',
    '"',
    "'",
    '\\',
    '*',
    ':',
    '!=',
    'a',
    'f(',
    ',',
  )
  const anyText = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    fc.array(fragment).map((fragments) => fragments.join('')),
  )

  it('is a filter or an ExpressionError within the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          parseFilter(text)
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error
          expect(error.column).toBeGreaterThanOrEqual(1)
          expect(error.column).toBeLessThanOrEqual([...text].length + 1)
          expect(error.expected).not.toBe('')
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('any tree', () => {
  const anyLiteral: fc.Arbitrary<Literal> = fc
    .record({
      parts: fc.array(fc.string({ unit: anyCharacter }), { minLength: 1, maxLength: 4 }),
      quoted: fc.boolean(),
      column: fc.constant(0),
    })
    .map((literal) => ({ ...literal, quoted: literal.quoted || literal.parts.join('*') === '' }))
  const anyName = fc.stringMatching(/^[a-z]+(\.[a-z]+)*$/).map((text) => ({ text, column: 0 }))
  const anyComparator = fc
    .constantFrom<Comparator>('=', '!=', '<', '<=', '>', '>=', ':')
    .map((text) => ({ text, column: 0 }))

  const { node: anyNode } = fc.letrec<{ node: FilterNode }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.record({ kind: fc.constant('text'), text: anyLiteral }),
      fc.record({
        kind: fc.constant('comparison'),
        field: anyName,
        comparator: anyComparator,
        value: anyLiteral,
      }),
      fc.record({ kind: fc.constant('call'), name: anyName, args: fc.array(anyLiteral, { maxLength: 3 }) }),
      fc.record({ kind: fc.constant('not'), operand: tie('node') }),
      fc.record({
        kind: fc.constantFrom('and', 'or'),
        operands: fc.array(tie('node'), { minLength: 2, maxLength: 4 }),
      }),
    ) as fc.Arbitrary<FilterNode>,
  }))

  const withoutColumns = (node: FilterNode) =>
    JSON.parse(JSON.stringify(node, (key, value) => (key === 'column' ? 0 : value)))

  it('survives printing and parsing', () => {
    fc.assert(
      fc.property(anyNode, (node) => {
        expect(withoutColumns(parseFilter(print(node))!)).toEqual(node)
      }),
    )
  })
})
