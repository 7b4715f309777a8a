import type { CheckedFilter } from '@fms/aip'
import { allOf, type SqlCondition } from './sql.ts'

/**
 * Converts a checked filter to a condition on columns. Values become parameters and names come from `columns`, so no
 * text of the caller is part of the SQL.
 *
 * @param columns the column of each field. Texts have BINARY collation, which is the order of code points.
 * @param foldedColumn the column that `search()` reads: text after `foldCase`. By default the column of its field.
 * @throws {Error} when the filter has a field without a column, which is a defect.
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
          sql: operands.map(({ sql }) => `(${sql})`).join(node.kind === 'and' ? ' AND ' : ' OR '),
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

/** Matches wildcards. The text before the first star becomes a range, for an index; `prefix*` is only that range. */
const matchSql = (column: string, parts: string[]): SqlCondition => {
  const [prefix = '', ...rest] = parts
  const end = endOfPrefix(prefix)
  if (prefix === '' || end === undefined) return wildcardSql(column, parts)
  const range = { sql: `${column} >= ? AND ${column} < ?`, values: [prefix, end] }
  return rest.join('') === '' ? range : allOf(range, wildcardSql(column, parts))
}

/** GLOB reads U+FFFE and U+FFFF as U+FFFD and ends at NUL; `matchesParts` replaces it for texts with these. */
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

/** The first text, by code points, after all texts with the prefix; undefined when there is none. */
export const endOfPrefix = (prefix: string): string | undefined => {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0)!)
  while (codePoints.at(-1) === 0x10ffff) codePoints.pop()
  const last = codePoints.pop()
  if (last === undefined) return undefined
  // The code points after U+D7FF are surrogates, which are not characters.
  return String.fromCodePoint(...codePoints, last === 0xd7ff ? 0xe000 : last + 1)
}
