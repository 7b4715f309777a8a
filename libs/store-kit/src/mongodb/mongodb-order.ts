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
 * Queries whose results, one after another, are the documents after a position in an order (keyset paging). Each is one
 * range of an index that has the order, so a page costs the same at any depth, however many documents share a value.
 *
 * @param order its last field is unique.
 * @param position the values of these fields in the last document that was read.
 */
export const rangesAfter = (
  order: readonly MongoOrderTerm[],
  position: readonly (string | number)[],
): Document[] =>
  order
    .map(({ field, descending }, index) => ({
      ...Object.fromEntries(order.slice(0, index).map((term, before) => [term.field, position[before]])),
      [field]: { [descending ? '$lt' : '$gt']: position[index] },
    }))
    .toReversed()
