import { didYouMean, suggestion } from '../did-you-mean.ts'
import { apiError } from '../errors.ts'
import type { FilterComplexityError, FilterError } from '../filter/index.ts'
import type { OrderByError } from './order-by.ts'

/** The filter is invalid, or uses a field or operator that the list does not support (AIP-160). */
export const invalidFilter = ({ column, expected, unknownField }: FilterError) => {
  const meant = unknownField && didYouMean(unknownField.name, unknownField.known)
  return invalidExpression('INVALID_FILTER', 'filter', { column, expected: expected + suggestion(meant) })
}

/** The orderBy is invalid, or names a field that the list cannot be sorted by (AIP-132). */
export const invalidOrderBy = (error: OrderByError) => invalidExpression('INVALID_ORDER_BY', 'orderBy', error)

/** @param column position in code points, from 1. */
const invalidExpression = (
  reason: 'INVALID_FILTER' | 'INVALID_ORDER_BY',
  field: string,
  { column, expected }: { column: number; expected: string },
) =>
  apiError(
    reason,
    { field, column: `${column}`, expected },
    { fieldViolations: [{ field, description: `column ${column}: expected ${expected}` }] },
  )

/** The filter has more conditions than a list accepts: 60, of which 10 on the text itself. */
export const filterTooComplex = ({ conditions, limit, found, message }: FilterComplexityError) =>
  apiError(
    'FILTER_TOO_COMPLEX',
    { field: 'filter', conditions, limit: `${limit}`, found: `${found}` },
    { fieldViolations: [{ field: 'filter', description: `has ${message}` }] },
  )
