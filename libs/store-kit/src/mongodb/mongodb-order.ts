import type { Document, Sort } from 'mongodb'

export interface MongoOrderTerm {
  field: string
  descending: boolean
}

export const mongoSort = (order: readonly MongoOrderTerm[]): Sort =>
  Object.fromEntries(order.map(({ field, descending }) => [field, descending ? -1 : 1]))

/**
 * The documents that come after a position in an order (keyset paging), as `afterPosition` has it for SQL. The bound
 * on the first field stands alone as well, for an index to start from.
 *
 * @param order its last field tells apart what is equal in all others.
 * @param position the values of the order's fields in the last document that was read.
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
