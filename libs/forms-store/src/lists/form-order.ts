import { completeOrder } from '@fms/aip'
import type { FormOrderTerm } from './form-fields.ts'

/** Most recently updated first, with ties ascending. */
const defaultOrder: readonly FormOrderTerm[] = [
  { field: 'updateTime', descending: true },
  { field: 'publicId', descending: false },
]

/** The total order of a list of forms. */
export const completeFormOrder = (orderBy: readonly FormOrderTerm[]) =>
  completeOrder(orderBy, 'publicId', defaultOrder)
