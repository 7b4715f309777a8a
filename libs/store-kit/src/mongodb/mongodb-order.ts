import type { OrderTerm } from '@fms/aip'
import type { Document, Sort } from 'mongodb'

export const mongoSort = (order: readonly OrderTerm[]): Sort =>
  Object.fromEntries(order.map(({ field, descending }) => [field, descending ? -1 : 1]))

/**
 * Queries whose results, one after another, are the documents after a position in an order (keyset paging) whose last
 * field is unique. Each is one range of an index that has the order, so a page costs the same at any depth.
 */
export const rangesAfter = (
  order: readonly OrderTerm[],
  position: readonly (string | number)[],
): Document[] =>
  order
    .map(({ field, descending }, index) => ({
      ...Object.fromEntries(order.slice(0, index).map((term, before) => [term.field, position[before]])),
      [field]: { [descending ? '$lt' : '$gt']: position[index] },
    }))
    .toReversed()
