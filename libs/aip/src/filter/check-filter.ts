import type { CheckedFilter, OrderOperator } from './checked-filter.ts'
import { ExpressionError } from './expression-error.ts'
import type { Call, Comparison, FilterNode, Literal } from './filter-node.ts'
import { foldCase } from './fold-case.ts'
import { parseTime } from './parse-time.ts'

/** The type of a field, which decides the comparators that it takes. */
export type FieldType =
  | { type: 'string' }
  /** One of a fixed set of values, case-sensitive. */
  | { type: 'enum'; values: readonly string[] }
  /** A text that takes `=` and `!=` only, with `*` as a wildcard; case-sensitive. */
  | { type: 'pattern' }
  /** A UUID in lower case. Filters write it in any letter case. */
  | { type: 'uuid' }
  /** An instant with a precision of milliseconds. */
  | { type: 'time' }

/** The fields that the filter of a list may use. */
export interface FilterFields {
  /** Field types by name; a field of a nested object has a dotted name, `a.b`. */
  fields: Readonly<Record<string, FieldType>>
  /** The field for `search("text")` and bare terms. Without it both are errors. */
  search?: string
}

/** A comparison of a declared field, with `!=` replaced by `=`. */
interface Condition {
  field: string
  operator: OrderOperator | ':'
  operatorColumn: number
  value: Literal
}

const constant = (value: boolean): CheckedFilter => ({ kind: 'constant', value })

/** The text of a literal in which `*` is not a wildcard. */
const plainText = ({ parts }: Literal) => parts.join('*')

const isOnlyWildcard = ({ parts, quoted }: Literal) => !quoted && parts.length === 2 && parts.join('') === ''

/** Merges consecutive wildcards into one, which means the same. */
const mergeWildcards = (parts: string[]) =>
  parts.filter((part, index) => part !== '' || index === 0 || index === parts.length - 1)

const checkString = ({ field, operator, value }: Condition): CheckedFilter => {
  const text = plainText(value)
  if (operator === ':') {
    if (isOnlyWildcard(value))
      throw new ExpressionError(value.column, 'a text after : (a literal star is \\*)')
    return text === '' ? constant(true) : { kind: 'contains', field, text }
  }
  if (value.parts.length === 1) return { kind: 'compare', field, operator, value: text }
  if (operator === '=') return { kind: 'match', field, parts: mergeWildcards(value.parts) }
  throw new ExpressionError(
    value.column,
    `a text without wildcards after ${operator} (a literal star is \\*)`,
  )
}

const checkEnum = ({ field, value }: Condition, values: readonly string[]): CheckedFilter => {
  const text = plainText(value)
  if (!values.includes(text)) throw new ExpressionError(value.column, `one of ${values.join(', ')}`)
  return { kind: 'compare', field, operator: '=', value: text }
}

/** A UUID of any version (RFC 9562). */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const checkUuid = ({ field, value }: Condition): CheckedFilter => {
  const text = plainText(value)
  if (!uuid.test(text)) throw new ExpressionError(value.column, 'a UUID')
  return { kind: 'compare', field, operator: '=', value: text.toLowerCase() }
}

/** The operator on whole milliseconds for an instant between `epochMs` and the next millisecond. */
const betweenMilliseconds = { '<': '<=', '<=': '<=', '>': '>', '>=': '>' } as const

const checkTime = ({ field, operator, operatorColumn, value }: Condition): CheckedFilter => {
  if (operator === ':') throw new ExpressionError(operatorColumn, `=, !=, <, <=, > or >= after ${field}`)
  const time = parseTime(plainText(value))
  if (!time)
    throw new ExpressionError(value.column, 'an RFC 3339 time with offset, such as 2026-01-31T09:30:00Z')
  const { epochMs, exact } = time
  if (exact) return { kind: 'compareTime', field, operator, epochMs }
  if (operator === '=') return constant(false)
  return { kind: 'compareTime', field, operator: betweenMilliseconds[operator], epochMs }
}

const checkCondition = (condition: Condition, declared: FieldType): CheckedFilter => {
  const { field, operator, operatorColumn } = condition
  if (declared.type === 'string') return checkString(condition)
  if (declared.type === 'time') return checkTime(condition)
  if (operator !== '=') throw new ExpressionError(operatorColumn, `= or != after ${field}`)
  switch (declared.type) {
    case 'enum':
      return checkEnum(condition, declared.values)
    case 'pattern':
      return checkString(condition)
    case 'uuid':
      return checkUuid(condition)
  }
}

const oneOf = (fields: FilterFields['fields']) => `one of the fields ${Object.keys(fields).join(', ')}`

const checkComparison = (
  { field, comparator, value }: Comparison,
  { fields }: FilterFields,
): CheckedFilter => {
  const declared = Object.hasOwn(fields, field.text) ? fields[field.text] : undefined
  if (!declared) {
    throw new ExpressionError(field.column, oneOf(fields), { name: field.text, known: Object.keys(fields) })
  }
  const operator = comparator.text === '!=' ? '=' : comparator.text
  const condition = { field: field.text, operator, operatorColumn: comparator.column, value }
  const checked = checkCondition(condition, declared)
  return comparator.text === '!=' ? { kind: 'not', operand: checked } : checked
}

const searchedField = ({ fields, search }: FilterFields, column: number): string => {
  if (search === undefined) throw new ExpressionError(column, `a comparison of ${oneOf(fields)}`)
  return search
}

const searchFor = (field: string, literal: Literal): CheckedFilter => {
  const text = foldCase(plainText(literal))
  return text === '' ? constant(true) : { kind: 'search', field, text }
}

const checkCall = ({ name, args }: Call, fields: FilterFields): CheckedFilter => {
  const field = searchedField(fields, name.column)
  if (name.text !== 'search') throw new ExpressionError(name.column, 'search, the only function')
  const [text, surplus] = args
  if (!text?.quoted || surplus) {
    throw new ExpressionError((surplus ?? text ?? name).column, 'one text in quotes, as in search("text")')
  }
  return searchFor(field, text)
}

/**
 * Validates a parsed filter against the fields of a list (AIP-160).
 *
 * - Strings take every comparator: `=` and `!=` with `*` as a wildcard, `:` ("contains") with `*` as a plain
 *   character, the others without `*`.
 * - Enums take `=` and `!=` with one of their values, patterns with a text in which `*` is a wildcard, and UUIDs with a
 *   UUID.
 * - Times take every comparator except `:`, with an RFC 3339 time. A time of finer precision than milliseconds
 *   compares exactly: `x > 10.5 ms` becomes `x > 10 ms`, and `x = 10.5 ms` matches no row.
 * - The only function is `search`, with one quoted text. A bare literal is a search too.
 *
 * @throws {ExpressionError} for anything else, at the column of the invalid field, comparator, value or function.
 */
export const checkFilter = (node: FilterNode, fields: FilterFields): CheckedFilter => {
  switch (node.kind) {
    case 'and':
    case 'or':
      return { kind: node.kind, operands: node.operands.map((operand) => checkFilter(operand, fields)) }
    case 'not':
      return { kind: 'not', operand: checkFilter(node.operand, fields) }
    case 'comparison':
      return checkComparison(node, fields)
    case 'call':
      return checkCall(node, fields)
    case 'text':
      return searchFor(searchedField(fields, node.text.column), node.text)
  }
}
