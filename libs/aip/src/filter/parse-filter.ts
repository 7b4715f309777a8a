import { FilterError } from './filter-error.ts'
import { SyntaxError as GrammarError, parse } from './grammar.generated.js'
import { parseTime } from './parse-time.ts'

/** The comparison operators of AIP-160; `:` is its "has" operator. */
export type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>=' | ':'

/** A piece of a filter's text and where it begins. */
export interface Token<Text extends string = string> {
  text: Text
  /** Unicode code points, from 1. */
  column: number
}

/** A text with wildcards (AIP-160, "Comparison Operators"). */
export interface Literal {
  /** The texts around the wildcards, always one more than these: `a*b` is `['a', 'b']`, `*` is `['', '']`. */
  parts: string[]
  quoted: boolean
  /** Unicode code points, from 1. */
  column: number
}

/** `field comparator value`. The field is as written, dots included; nothing is known of it yet. */
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

/** What a filter says, before anything is known of the fields that it names. */
export type FilterNode =
  | { kind: 'and' | 'or'; operands: FilterNode[] }
  | { kind: 'not'; operand: FilterNode }
  | Comparison
  | Call
  /** A literal that stands alone (AIP-160, "Literals"). */
  | { kind: 'text'; text: Literal }

/** The column of each offset: code points, from 1. */
const columnsOf = (text: string): Uint32Array => {
  const columns = new Uint32Array(text.length + 1).fill(1)
  let offset = 0
  let column = 1
  for (const { length } of text) {
    // The second half of a pair is where the next code point would be.
    columns.fill(++column, offset + 1, offset + length + 1)
    offset += length
  }
  return columns
}

/** The list is made when it is needed: what ICU loads for it takes 3 MiB. */
const describeExpected = ({ expected }: GrammarError) =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
    new Set(expected.flatMap(({ type, description }) => (type === 'end' ? 'the end' : (description ?? [])))),
  )

const isTime = (text: string): boolean => parseTime(text) !== undefined

/**
 * Read an AIP-160 filter, by the rules that `grammar.peggy` quotes.
 *
 * No text makes it backtrack without bound or exhausts the stack: parentheses nest at most 100 deep. How long
 * a text may be is for the caller to say.
 *
 * @returns undefined for a text of nothing but white space: no filter.
 * @throws {FilterError} for a text that is no filter, half a surrogate pair in a literal included.
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
