import type { CheckedFilter, OrderOperator } from '@fms/aip'
import type { Document } from 'mongodb'
import { endOfPrefix } from '../sqlite/filter-sql.ts'

/** A filter as MongoDB can be asked for it. */
export interface MongoFilter {
  query: Document
  /** Otherwise the query finds some documents too many, and `evaluateFilter` has to look at each. */
  exact: boolean
}

/** true: all documents; false: none. */
type Condition = Document | boolean

const opposites: Record<OrderOperator, '!=' | OrderOperator> = {
  '=': '!=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
}

/**
 * `<=` is written as `<` of the next value, which is the same and uses the same range of an index: secantusdb leaves out
 * the equal values of an index that goes on with another field.
 */
const comparison = (operator: '!=' | OrderOperator, value: string | number): Document => {
  switch (operator) {
    case '=':
      return { $eq: value }
    case '!=':
      return { $ne: value }
    case '<':
      return { $lt: value }
    case '<=':
      return { $lt: successor(value) }
    case '>':
      return { $gt: value }
    case '>=':
      return { $gte: value }
  }
}

/** The first text behind it, or the first integer above it: numbers of documents are integers. */
const successor = (value: string | number) =>
  typeof value === 'string' ? `${value}\0` : Math.floor(value) + 1

/** Each star more multiplies the ways in which an engine that backtracks may try a text. */
const maxStars = 2

/** Changes between AND and OR, one inside the other. MongoDB bounds the depth of a query. */
const maxDepth = 30

/**
 * A checked filter as a query. The caller's texts are values of `$eq` and the like, or escaped inside a regular
 * expression that PCRE, Java, Python and JavaScript read alike: never an operator, never a name.
 *
 * Strings compare as MongoDB has it without a collation: by the bytes of UTF-8, which is the order of code points.
 * What no engine should be asked (a text with many stars, a very deep filter) is left out, and `exact` says so.
 *
 * @param fields the document's field of each field of the filter; every document has all of them.
 * @param foldedField where the text that `search()` looks into stands, after `foldCase`.
 */
export const filterMongodb = (
  filter: CheckedFilter,
  fields: Readonly<Record<string, string>>,
  foldedField?: string,
): MongoFilter => {
  let exact = true
  /** What is left out has to find too much, not too little: all, on either side of a negation. */
  const leftOut = (): true => {
    exact = false
    return true
  }

  const fieldOf = (field: string): string => {
    const name = fields[field]
    if (name === undefined) throw new Error(`The filter reads ${field}, which has no field`)
    return name
  }

  const compare = (field: string, operator: OrderOperator, value: string | number, isNegated: boolean) => ({
    [fieldOf(field)]: comparison(isNegated ? opposites[operator] : operator, value),
  })

  const conditionOf = (node: CheckedFilter, negated: boolean, depth: number): Condition => {
    switch (node.kind) {
      case 'and':
      case 'or': {
        if (depth > maxDepth) return leftOut()
        // De Morgan: negations go down to the comparisons, which have their opposites.
        const kind = (node.kind === 'and') === negated ? 'or' : 'and'
        return joined(
          kind,
          node.operands.map((operand) => conditionOf(operand, negated, depth + 1)),
        )
      }
      case 'not':
        return conditionOf(node.operand, !negated, depth)
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
      case 'match': {
        const match = matching(fieldOf(node.field), node.parts)
        if (node.parts.length - 1 <= maxStars) return unless(negated, match)
        leftOut()
        return negated || matching(fieldOf(node.field), [node.parts[0]!, node.parts.at(-1)!])
      }
    }
  }

  const condition = conditionOf(filter, false, 0)
  return { query: typeof condition === 'boolean' ? constants[`${condition}`] : condition, exact }
}

const constants = { true: {}, false: { _id: { $in: [] } } }

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

/** The text is the parts with anything in between. What stands before the first star bounds a range, for an index. */
const matching = (field: string, parts: readonly string[]): Condition => {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (parts.join('') === '') return true
  const begin = first === '' ? '' : '^'
  const end = last === '' ? '' : endOfText
  const middle = parts.slice(first === '' ? 1 : 0, last === '' ? -1 : undefined)
  const upper = endOfPrefix(first)
  return {
    [field]: {
      ...(first !== '' && { $gte: first }),
      ...(upper !== undefined && { $lt: upper }),
      $regex: begin + middle.map(escaped).join('[\\s\\S]*') + end,
    },
  }
}

/** No character follows. `$` also matches before a final line end, and `\z` is not in every dialect. */
const endOfText = '(?![\\s\\S])'

/** The characters that every dialect reads as operators outside of a class; everything else stands for itself. */
const operatorCharacters = /[\\^$.|?*+()[\]{}]/g

/** The text as a pattern that matches it alone. A pattern cannot contain NUL, since BSON ends its text there. */
const escaped = (text: string): string => text.replace(operatorCharacters, '\\$&').replaceAll('\0', '\\x00')
