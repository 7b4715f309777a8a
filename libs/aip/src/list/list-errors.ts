import { ApiError } from '../errors.ts'
import type { FilterComplexityError, FilterError } from '../filter/index.ts'
import type { OrderByError } from './order-by.ts'

/** The filter is invalid, or uses a field or operator that the list does not support (AIP-160). */
export const invalidFilter = ({ column, expected }: FilterError) =>
  invalidExpression('filter', 'INVALID_FILTER', column, expected)

/** The filter has more conditions than a list accepts: 60, of which 10 on the text itself. */
export const filterTooComplex = ({ conditions, limit, found, message }: FilterComplexityError) =>
  new ApiError(
    'INVALID_ARGUMENT',
    'FILTER_TOO_COMPLEX',
    `The filter has ${message}. ${narrowerConditions[conditions]}`,
    {
      metadata: { field: 'filter', conditions, limit: `${limit}`, found: `${found}` },
      fieldViolations: [{ field: 'filter', description: `has ${message}` }],
    },
  )

const narrowerConditions: Record<FilterComplexityError['conditions'], string> = {
  conditions: 'Use fewer conditions.',
  'text conditions':
    'These are :, search(), a bare term, and a * before the end. Use fewer of them, or compare with = and at most one *, at the end.',
}

/** The orderBy is invalid, or names a field that the list cannot be sorted by (AIP-132). */
export const invalidOrderBy = ({ column, expected }: OrderByError) =>
  invalidExpression('orderBy', 'INVALID_ORDER_BY', column, expected)

/** @param column position in code points, from 1. */
const invalidExpression = (field: string, reason: string, column: number, expected: string) =>
  new ApiError(
    'INVALID_ARGUMENT',
    reason,
    `Correct the ${field} at column ${column}: expected ${expected}.`,
    {
      metadata: { field, column: `${column}`, expected },
      fieldViolations: [{ field, description: `column ${column}: expected ${expected}` }],
    },
  )
