import { ExpressionError } from '../filter/expression-error.ts'

export interface OrderTerm<Field extends string = string> {
  field: Field
  descending: boolean
}

/** A position in a list: the values of the order's fields in the last item of a page. Times are milliseconds since the epoch. */
export type Position = (string | number)[]

export const positionOf = <Field extends string>(
  values: Readonly<Record<Field, string | number>>,
  order: readonly OrderTerm<Field>[],
): Position => order.map(({ field }) => values[field])

/**
 * Completes an `orderBy` to a total order: adds a unique field, in the direction of the last field, or drops the fields
 * after it, which have no effect. An empty one becomes `byDefault`.
 */
export const completeOrder = <Field extends string>(
  orderBy: readonly OrderTerm<Field>[],
  unique: Field,
  byDefault: readonly OrderTerm<Field>[],
): readonly OrderTerm<Field>[] => {
  const last = orderBy.at(-1)
  if (!last) return byDefault
  const uniqueIndex = orderBy.findIndex(({ field }) => field === unique)
  return uniqueIndex < 0
    ? [...orderBy, { field: unique, descending: last.descending }]
    : orderBy.slice(0, uniqueIndex + 1)
}

/**
 * Parses an `orderBy` (AIP-132) such as `name, createTime desc`: each field once, ascending by default. White space is
 * allowed around each word; an empty text means no order. The caller limits the length of the text.
 *
 *     orderBy = [ term *( "," term ) ]
 *     term    = field [ "asc" / "desc" ]
 *
 * @throws {ExpressionError} for anything else.
 */
export const parseOrderBy = <Field extends string>(
  text: string,
  fields: readonly Field[],
): OrderTerm<Field>[] => {
  if (text.trim() === '') return []
  const error = (index: number, expected: string) =>
    new ExpressionError([...text.slice(0, index)].length + 1, expected)
  const terms: OrderTerm<Field>[] = []
  let start = 0
  for (const part of text.split(',')) {
    const end = start + part.length
    const words = [...part.matchAll(/\S+/g)]
    const [field, direction, surplus] = words.map(({ 0: word, index }) => ({ word, index: start + index }))
    const known = fields.find((each) => each === field?.word)
    if (!field || !known) throw error(field?.index ?? end, `one of ${fields.join(', ')}`)
    if (terms.some((term) => term.field === known)) {
      throw error(field.index, `a field other than ${known}, which is already named`)
    }
    if (direction && direction.word !== 'asc' && direction.word !== 'desc') {
      throw error(direction.index, 'asc, desc, a comma or the end')
    }
    if (surplus) throw error(surplus.index, 'a comma or the end')
    terms.push({ field: known, descending: direction?.word === 'desc' })
    start = end + 1
  }
  return terms
}
