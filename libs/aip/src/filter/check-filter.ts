import { boundFilter } from './bound-filter.ts'
import { FilterError } from './filter-error.ts'
import { foldCase } from './fold-case.ts'
import type { Call, Comparison, FilterNode, Literal } from './parse-filter.ts'
import { parseTime } from './parse-time.ts'

/** What a field holds, which decides how it can be compared. */
export type FieldType =
  | { type: 'string' }
  /** One of a few values, in their exact spelling. */
  | { type: 'enum'; values: readonly string[] }
  /** An instant, kept in milliseconds. */
  | { type: 'time' }

/** What a list lets its filters ask. */
export interface FilterFields {
  /** The fields by name; one of a nested object has its dotted name, `a.b`. */
  fields: Readonly<Record<string, FieldType>>
  /** The field that `search("text")` and bare terms look into; both are errors when there is none. */
  search?: string
}

/** `!=` is told as the negation of `=`. */
export type OrderOperator = '=' | '<' | '<=' | '>' | '>='

/**
 * A filter with nothing left to interpret: each field is declared, each value fits its field. It knows of no
 * store; `evaluateFilter` says what each node means.
 */
export type CheckedFilter =
  | { kind: 'and' | 'or'; operands: CheckedFilter[] }
  | { kind: 'not'; operand: CheckedFilter }
  /** Holds for every row, or for none. */
  | { kind: 'constant'; value: boolean }
  /** Strings by code point, case-sensitive. An enum takes `=` alone. */
  | { kind: 'compare'; field: string; operator: OrderOperator; value: string }
  /** The field is the parts in this order with any run of characters between each two; at least two parts. */
  | { kind: 'match'; field: string; parts: string[] }
  /** Case-sensitive; the text is not empty. */
  | { kind: 'contains'; field: string; text: string }
  /** The field contains the text when both go through `foldCase`; the text is not empty and already did. */
  | { kind: 'search'; field: string; text: string }
  /** Whole milliseconds since 1970-01-01T00:00:00Z. */
  | { kind: 'compareTime'; field: string; operator: OrderOperator; epochMs: number }

/** A comparison of a declared field, freed of `!=`. */
interface Condition {
  field: string
  operator: OrderOperator | ':'
  operatorColumn: number
  value: Literal
}

const constant = (value: boolean): CheckedFilter => ({ kind: 'constant', value })

/** The text where `*` has no meaning of its own. */
const plainText = ({ parts }: Literal) => parts.join('*')

const isWildcardAlone = ({ parts, quoted }: Literal) => !quoted && parts.length === 2 && parts.join('') === ''

/** A run of wildcards says no more than one of them. */
const withoutRuns = (parts: string[]) =>
  parts.filter((part, index) => part !== '' || index === 0 || index === parts.length - 1)

const checkString = ({ field, operator, value }: Condition): CheckedFilter => {
  const text = plainText(value)
  if (operator === ':') {
    if (isWildcardAlone(value)) throw new FilterError(value.column, 'a text after : (a literal star is \\*)')
    return text === '' ? constant(true) : { kind: 'contains', field, text }
  }
  if (value.parts.length === 1) return { kind: 'compare', field, operator, value: text }
  if (operator === '=') return { kind: 'match', field, parts: withoutRuns(value.parts) }
  throw new FilterError(value.column, `a text without wildcards after ${operator} (a literal star is \\*)`)
}

const checkEnum = (
  { field, operator, operatorColumn, value }: Condition,
  values: readonly string[],
): CheckedFilter => {
  if (operator !== '=') throw new FilterError(operatorColumn, `= or != after ${field}`)
  const text = plainText(value)
  if (!values.includes(text)) throw new FilterError(value.column, `one of ${values.join(', ')}`)
  return { kind: 'compare', field, operator, value: text }
}

/** What an operator means to whole milliseconds when the instant lies between `epochMs` and the next one. */
const betweenMilliseconds = { '<': '<=', '<=': '<=', '>': '>', '>=': '>' } as const

const checkTime = ({ field, operator, operatorColumn, value }: Condition): CheckedFilter => {
  if (operator === ':') throw new FilterError(operatorColumn, `=, !=, <, <=, > or >= after ${field}`)
  const time = parseTime(plainText(value))
  if (!time) throw new FilterError(value.column, 'an RFC 3339 time with offset, such as 2026-01-31T09:30:00Z')
  const { epochMs, exact } = time
  if (exact) return { kind: 'compareTime', field, operator, epochMs }
  if (operator === '=') return constant(false)
  return { kind: 'compareTime', field, operator: betweenMilliseconds[operator], epochMs }
}

const checkCondition = (condition: Condition, declared: FieldType): CheckedFilter => {
  switch (declared.type) {
    case 'string':
      return checkString(condition)
    case 'enum':
      return checkEnum(condition, declared.values)
    case 'time':
      return checkTime(condition)
  }
}

const oneOf = (fields: FilterFields['fields']) => `one of the fields ${Object.keys(fields).join(', ')}`

const checkComparison = (
  { field, comparator, value }: Comparison,
  { fields }: FilterFields,
): CheckedFilter => {
  const declared = Object.hasOwn(fields, field.text) ? fields[field.text] : undefined
  if (!declared) throw new FilterError(field.column, oneOf(fields))
  const operator = comparator.text === '!=' ? '=' : comparator.text
  const condition = { field: field.text, operator, operatorColumn: comparator.column, value }
  const checked = checkCondition(condition, declared)
  return comparator.text === '!=' ? { kind: 'not', operand: checked } : checked
}

/** @param column where the filter asks for a search. */
const searchedField = ({ fields, search }: FilterFields, column: number): string => {
  if (search === undefined) throw new FilterError(column, `a comparison of ${oneOf(fields)}`)
  return search
}

const searchFor = (field: string, literal: Literal): CheckedFilter => {
  const text = foldCase(plainText(literal))
  return text === '' ? constant(true) : { kind: 'search', field, text }
}

const checkCall = ({ name, args }: Call, fields: FilterFields): CheckedFilter => {
  const field = searchedField(fields, name.column)
  if (name.text !== 'search') throw new FilterError(name.column, 'search, the only function')
  const [text, surplus] = args
  if (!text?.quoted || surplus) {
    throw new FilterError((surplus ?? text ?? name).column, 'one text in quotes, as in search("text")')
  }
  return searchFor(field, text)
}

const checkNode = (node: FilterNode, fields: FilterFields): CheckedFilter => {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { kind: node.kind, operands: node.operands.map((operand) => checkNode(operand, fields)) }
    case 'not':
      return { kind: 'not', operand: checkNode(node.operand, fields) }
    case 'comparison':
      return checkComparison(node, fields)
    case 'call':
      return checkCall(node, fields)
    case 'text':
      return searchFor(searchedField(fields, node.text.column), node.text)
  }
}

/**
 * Hold a parsed filter against the fields that a list offers.
 *
 * - Strings take every comparator: `=` and `!=` with `*` for any run of characters, `:` for "contains" with `*`
 *   as itself, the others without `*`.
 * - Enums take `=` and `!=` with one of their values.
 * - Times take every comparator but `:` with an RFC 3339 time. One of finer precision than milliseconds
 *   compares as the instant it is: `x > 10.5 ms` becomes `x > 10 ms`, and `x = 10.5 ms` holds for no row.
 * - The one function is `search`, with one text in quotes. A literal that stands alone is searched for too.
 *
 * @throws {FilterError} for anything else, at the field, comparator, value or function that is wrong.
 * @throws {FilterComplexityError} for more than 60 conditions, or more than 10 that need the text itself.
 */
export const checkFilter = (node: FilterNode, fields: FilterFields): CheckedFilter => {
  const filter = checkNode(node, fields)
  boundFilter(filter)
  return filter
}
