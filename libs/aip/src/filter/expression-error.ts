/** A filter or an order with invalid syntax, or with a field, value or function that its list does not support. */
export class ExpressionError extends Error {
  /** Position of the error: Unicode code points, from 1. */
  readonly column: number
  /** What is valid at this position, as text for people. */
  readonly expected: string
  /** The name of an unknown field, and those that are known. */
  readonly unknownField: { name: string; known: readonly string[] } | undefined

  constructor(column: number, expected: string, unknownField?: ExpressionError['unknownField']) {
    super(`column ${column}: expected ${expected}`)
    this.name = 'ExpressionError'
    this.column = column
    this.expected = expected
    this.unknownField = unknownField
  }
}
