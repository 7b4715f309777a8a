import { FilterError } from './filter-error.ts'
import { SyntaxError as GrammarError, parse } from './grammar.generated.js'
import { parseTime } from './parse-time.ts'

/** The comparison operators of AIP-160; `:` is its "has" operator. */
export type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>=' | ':'

/** A part of the filter text and its position. */
export interface Token<Text extends string = string> {
  text: Text
  /** Unicode code points, from 1. */
  column: number
}

/** A text with wildcards (AIP-160, "Comparison Operators"). */
export interface Literal {
  /**
   * The texts between the wildcards, always one more than there are wildcards: `a*b` is `['a', 'b']`, `*` is
   * `['', '']`.
   */
  parts: string[]
  quoted: boolean
  /** Unicode code points, from 1. */
  column: number
}

/** `field comparator value`. The field is the text of the filter, with its dots, and not validated. */
export interface Comparison {
  kind: 'comparison'
  field: Token
  comparator: Token<Comparator>
  value: Literal
}

/** A function call (AIP-160, "Functions"). */
export interface Call {
  kind: 'call'
  name: Token
  args: Literal[]
}

/** The syntax tree of a filter. Fields and values are not validated: see {@link checkFilter}. */
export type FilterNode =
  | { kind: 'and' | 'or'; operands: FilterNode[] }
  | { kind: 'not'; operand: FilterNode }
  | Comparison
  | Call
  /** A bare literal (AIP-160, "Literals"). */
  | { kind: 'text'; text: Literal }

/** The column, in code points from 1, of each offset in UTF-16 code units. */
const columnsOf = (text: string): Uint32Array => {
  const columns = new Uint32Array(text.length + 1).fill(1)
  let offset = 0
  let column = 1
  for (const { length } of text) {
    // The second half of a surrogate pair gets the column of the next code point.
    columns.fill(++column, offset + 1, offset + length + 1)
    offset += length
  }
  return columns
}

/** Creates the `ListFormat` only for an error: ICU data for it takes 3 MiB. */
const describeExpected = ({ expected }: GrammarError) =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    new Set(expected.flatMap(({ type, description }) => (type === 'end' ? 'the end' : (description ?? [])))),
  )

const isTime = (text: string): boolean => parseTime(text) !== undefined

/**
 * Parses an AIP-160 filter; `grammar.peggy` has the grammar.
 *
 * Backtracking is bounded, and parentheses nest at most 100 deep, so no text exhausts the stack. The caller limits the
 * length of the text.
 *
 * @returns undefined for an empty text or white space: no filter.
 * @throws {FilterError} for invalid syntax, including half a surrogate pair in a literal.
 */
export const parseFilter = (text: string): FilterNode | undefined => {
  const columns = columnsOf(text)
  const columnAt = (offset: number) => columns[offset]!
  try {
    return parse(text, { columnAt, isTime }) ?? undefined
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    throw new FilterError(columnAt(error.location.start.offset), describeExpected(error))
  }
}
