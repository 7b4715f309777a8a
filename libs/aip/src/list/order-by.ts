/** A field to sort by and its direction. */
export interface OrderTerm {
  field: string
  descending: boolean
}

/** An invalid `orderBy`. The message is the description of a field violation. */
export class OrderByError extends Error {
  /** Position of the error: Unicode code points, from 1. */
  readonly column: number
  /** What is valid at this position, as text for people. */
  readonly expected: string

  constructor(column: number, expected: string) {
    super(`column ${column}: expected ${expected}`)
    this.name = 'OrderByError'
    this.column = column
    this.expected = expected
  }
}

/**
 * Parses an `orderBy` (AIP-132) such as `name, createTime desc`. The direction is ascending by default. White space is
 * allowed around each word. An empty text or white space means no order.
 *
 *     orderBy = [ term *( "," term ) ]
 *     term    = field [ "asc" / "desc" ]
 *
 * @param text a text whose length the caller limits.
 * @param fields the sortable fields, each allowed once.
 * @throws {OrderByError} for anything else.
 */
export const parseOrderBy = (text: string, fields: readonly string[]): OrderTerm[] => {
  if (text.trim() === '') return []
  const error = (index: number, expected: string) =>
    new OrderByError([...text.slice(0, index)].length + 1, expected)
  const terms: OrderTerm[] = []
  let start = 0
  for (const part of text.split(',')) {
    const end = start + part.length
    const words = [...part.matchAll(/\S+/g)]
    const [field, direction, surplus] = words.map(({ 0: word, index }) => ({ word, index: start + index }))
    if (!field || !fields.includes(field.word)) {
      throw error(field?.index ?? end, `one of ${fields.join(', ')}`)
    }
    if (terms.some((term) => term.field === field.word)) {
      throw error(field.index, `a field other than ${field.word}, which is already named`)
    }
    if (direction && direction.word !== 'asc' && direction.word !== 'desc') {
      throw error(direction.index, 'asc, desc, a comma or the end')
    }
    if (surplus) throw error(surplus.index, 'a comma or the end')
    terms.push({ field: field.word, descending: direction?.word === 'desc' })
    start = end + 1
  }
  return terms
}
