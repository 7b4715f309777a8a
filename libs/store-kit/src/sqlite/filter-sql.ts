import type { CheckedFilter } from '@fms/aip'
import { allOf, type SqlCondition } from './sql.ts'

/**
 * A checked filter as a condition on columns. Values travel as parameters, names come from `columns` alone: nothing
 * of the caller's is ever part of the SQL text.
 *
 * @param columns the column of each field; texts in BINARY collation, which is the order of code points.
 * @param foldedColumn where the text that `search()` looks into stands, after `foldCase`.
 */
export const filterSql = (
  filter: CheckedFilter,
  columns: Readonly<Record<string, string>>,
  foldedColumn?: string,
): SqlCondition => {
  const columnOf = (field: string): string => {
    const column = columns[field]
    if (column === undefined) throw new Error(`The filter reads ${field}, which has no column`)
    return column
  }

  const conditionOf = (node: CheckedFilter): SqlCondition => {
    switch (node.kind) {
      case 'and':
      case 'or': {
        const operands = node.operands.map(conditionOf)
        return {
          sql: joined(
            operands.map(({ sql }) => sql),
            node.kind === 'and' ? 'AND' : 'OR',
          ),
          values: operands.flatMap(({ values }) => values),
        }
      }
      case 'not': {
        const { sql, values } = conditionOf(node.operand)
        return { sql: `NOT (${sql})`, values }
      }
      case 'constant':
        return { sql: node.value ? 'TRUE' : 'FALSE', values: [] }
      case 'compare':
        return { sql: `${columnOf(node.field)} ${node.operator} ?`, values: [node.value] }
      case 'compareTime':
        return { sql: `${columnOf(node.field)} ${node.operator} ?`, values: [node.epochMs] }
      case 'contains':
        return { sql: `instr(${columnOf(node.field)}, ?) > 0`, values: [node.text] }
      case 'search':
        return { sql: `instr(${foldedColumn ?? columnOf(node.field)}, ?) > 0`, values: [node.text] }
      case 'match':
        return matchSql(columnOf(node.field), node.parts)
    }
  }
  return conditionOf(filter)
}

/** SQLite bounds how deep an expression is (sqlite.org/limits.html), so that many operands make a balanced tree. */
const joined = (conditions: string[], operator: 'AND' | 'OR'): string => {
  if (conditions.length === 1) return conditions[0]!
  const half = Math.ceil(conditions.length / 2)
  const [left, right] = [conditions.slice(0, half), conditions.slice(half)]
  return `(${joined(left, operator)}) ${operator} (${joined(right, operator)})`
}

/** What stands before the first star bounds a range, which an index can serve; a star at the end asks for no more. */
const matchSql = (column: string, parts: string[]): SqlCondition => {
  const [prefix = '', ...rest] = parts
  const end = endOfPrefix(prefix)
  if (prefix === '' || end === undefined) return wildcardSql(column, parts)
  const range = { sql: `${column} >= ? AND ${column} < ?`, values: [prefix, end] }
  return rest.join('') === '' ? range : allOf(range, wildcardSql(column, parts))
}

/** GLOB reads U+FFFE and U+FFFF as U+FFFD, and ends at a NUL: `matchesParts` compares what it cannot. */
const wildcardSql = (column: string, parts: string[]): SqlCondition => {
  const json = JSON.stringify(parts)
  if (parts.some((part) => /[\0\uFFFD-\uFFFF]/.test(part)))
    return { sql: `matchesParts(${column}, ?)`, values: [json] }
  return {
    sql: `CASE WHEN instr(${column}, char(0)) > 0 THEN matchesParts(${column}, ?) ELSE ${column} GLOB ? END`,
    values: [json, parts.map(escapedForGlob).join('*')],
  }
}

const escapedForGlob = (text: string): string => text.replace(/[*?[]/g, '[$&]')

/** The first text, by code points, after all those that begin with the prefix; undefined when there is none. */
export const endOfPrefix = (prefix: string): string | undefined => {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (codePoints.at(-1) === 0x10ffff) codePoints.pop()
  const last = codePoints.pop()
  if (last === undefined) return undefined
  // Surrogates are no characters.
  return String.fromCodePoint(...codePoints, last === 0xd7ff ? 0xe000 : last + 1)
}
