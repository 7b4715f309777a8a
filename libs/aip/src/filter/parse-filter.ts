import { ExpressionError } from './expression-error.ts'
import type { FilterNode } from './filter-node.ts'
import { SyntaxError as GrammarError, parse } from './grammar.generated.js'
import { parseTime } from './parse-time.ts'

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
 * Parses an AIP-160 filter (`grammar.peggy`); undefined for white space. The caller limits the length of the text;
 * backtracking is bounded and parentheses nest at most 100 deep, so no text exhausts the stack.
 *
 * @throws {ExpressionError} for invalid syntax, including half a surrogate pair in a literal.
 */
export const parseFilter = (text: string): FilterNode | undefined => {
  const columns = columnsOf(text)
  const columnAt = (offset: number) => columns[offset]!
  try {
    return parse(text, { columnAt, isTime }) ?? undefined
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    throw new ExpressionError(columnAt(error.location.start.offset), describeExpected(error))
  }
}
