import type { Document, Sort } from 'mongodb'

/** A field of an order, with its direction. */
export interface MongoOrderTerm {
  field: string
  descending: boolean
}

/** The sort of a query. */
export const mongoSort = (order: readonly MongoOrderTerm[]): Sort =>
  Object.fromEntries(order.map(({ field, descending }) => [field, descending ? -1 : 1]))

/**
 * A query for the documents after a position in an order (keyset paging), like `afterPosition` for SQL. It also has a
 * bound on the first field, where an index scan can start.
 *
 * @param order its last field is unique.
 * @param position the values of these fields in the last document that was read.
 */
export const afterMongoPosition = (
  order: readonly MongoOrderTerm[],
  position: readonly (string | number)[],
): Document => {
  const [{ field, descending }, ...rest] = order as [MongoOrderTerm, ...MongoOrderTerm[]]
  const [value, ...restOfPosition] = position
  const past = descending ? '$lt' : '$gt'
  if (rest.length === 0) return { [field]: { [past]: value } }
  return {
    [field]: { [`${past}e`]: value },
    $or: [{ [field]: { [past]: value } }, afterMongoPosition(rest, restOfPosition)],
  }
}
