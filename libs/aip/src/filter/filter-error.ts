/** A filter that cannot be read, or that asks for what its list does not offer. */
export class FilterError extends Error {
  /** Where the text goes wrong: Unicode code points, from 1. */
  readonly column: number
  /** What could have stood there, for people to read. */
  readonly expected: string

  constructor(column: number, expected: string) {
    super(`column ${column}: expected ${expected}`)
    this.name = 'FilterError'
    this.column = column
    this.expected = expected
  }
}
