import type { CheckedFilter, OrderOperator } from '@fms/aip'
import type { Document } from 'mongodb'
import { endOfPrefix } from '../sqlite/filter-sql.ts'

/** A query; `true` for all documents, `false` for none. */
type Condition = Document | boolean

const opposites: Record<OrderOperator, '!=' | OrderOperator> = {
  '=': '!=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/** `<=` is `<` of the next value: in a compound index, secantusdb leaves the equal values of `$lte` out. */
const comparison = (operator: '!=' | OrderOperator, value: string | number): Document =>
  operator === '<=' ? { $lt: successor(value) } : { [operators[operator]]: value }

const operators = { '=': '$eq', '!=': '$ne', '<': '$lt', '>': '$gt', '>=': '$gte' } as const

/** The next text, or the next integer: numbers in documents are integers. */
const successor = (value: string | number) =>
  typeof value === 'string' ? `${value}\0` : Math.floor(value) + 1

/**
 * Converts a checked filter to a query. Texts of the caller become values of operators, or are escaped in regular
 * expressions that PCRE, Java, Python and JavaScript interpret alike. Without a collation, strings compare by code point.
 *
 * @param fields the document field of each field of the filter; every document has all of them.
 * @param foldedField what `search()` reads: text after `foldCase`. By default the field of its operand.
 * @returns undefined when no document can match. With a hint, MongoDB 8.0 reads a whole index for such a query, of all
 *   organizations, and each of its documents (SERVER-100269).
 * @throws {Error} when the filter has a field without a document field, which is a defect.
 */
export const filterMongodb = (
  filter: CheckedFilter,
  fields: Readonly<Record<string, string>>,
  foldedField?: string,
): Document | undefined => {
  const fieldOf = (field: string): string => {
    const name = fields[field]
    if (name === undefined) throw new Error(`The filter reads ${field}, which has no field`)
    return name
  }

  const compare = (field: string, operator: OrderOperator, value: string | number, negated: boolean) => ({
    [fieldOf(field)]: comparison(negated ? opposites[operator] : operator, value),
  })

  const toCondition = (node: CheckedFilter, negated: boolean): Condition => {
    switch (node.kind) {
      case 'and':
      case 'or': {
        // By De Morgan's laws, negations move down to the comparisons, which have opposites.
        const kind = (node.kind === 'and') === negated ? 'or' : 'and'
        return joined(
          kind,
          node.operands.map((operand) => toCondition(operand, negated)),
        )
      }
      case 'not':
        return toCondition(node.operand, !negated)
      case 'constant':
        return node.value !== negated
      case 'compare':
        return compare(node.field, node.operator, node.value, negated)
      case 'compareTime':
        return compare(node.field, node.operator, node.epochMs, negated)
      case 'contains':
        return unless(negated, { [fieldOf(node.field)]: { $regex: escaped(node.text) } })
      case 'search':
        return unless(negated, { [foldedField ?? fieldOf(node.field)]: { $regex: escaped(node.text) } })
      case 'match':
        return unless(negated, matching(fieldOf(node.field), node.parts))
    }
  }

  const condition = toCondition(filter, false)
  return condition === true ? {} : condition || undefined
}

const unless = (negated: boolean, condition: Condition): Condition => {
  if (typeof condition === 'boolean') return condition !== negated
  return negated ? { $nor: [condition] } : condition
}

const joined = (kind: 'and' | 'or', conditions: Condition[]): Condition => {
  const decisive = kind === 'or'
  if (conditions.includes(decisive)) return decisive
  const rest = conditions.filter((condition) => typeof condition !== 'boolean')
  if (rest.length === 0) return !decisive
  if (rest.length === 1) return rest[0]!
  const operator = `$${kind}`
  return { [operator]: rest.flatMap((condition) => condition[operator] ?? [condition]) }
}

/** Matches texts of these parts with any characters in between. The first part becomes a range, for an index. */
const matching = (field: string, parts: readonly string[]): Condition => {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (parts.join('') === '') return true
  const [begin = '', ...middle] = parts.slice(first === '' ? 1 : 0, -1)
  const beforeLast = first === '' && parts.length === 2 ? '' : '.*'
  const upper = endOfPrefix(first)
  return {
    [field]: {
      ...(first !== '' && { $gte: first }),
      ...(upper !== undefined && { $lt: upper }),
      $regex:
        (first === '' ? '' : '^') +
        escaped(begin) +
        middle.map(upToFirst).join('') +
        (last === '' ? '' : beforeLast + escaped(last) + endOfText),
      // A dot is any character, line ends included.
      $options: 's',
    },
  }
}

/** Up to the first occurrence of a part: no later one fits better, so that an engine that backtracks tries no other. */
const upToFirst = (part: string): string => `(?:(?!${escaped(part)}).)*${escaped(part)}`

/** The end of the text. `$` also matches before a final line end, and not every dialect has `\z`. */
const endOfText = '(?!.)'

/** The characters that are operators outside of a class in every dialect. */
const operatorCharacters = /[\\^$.|?*+()[\]{}]/g

/** A pattern that matches exactly the text. It cannot contain NUL, where BSON ends a pattern. */
const escaped = (text: string): string => text.replace(operatorCharacters, '\\$&').replaceAll('\0', '\\x00')
