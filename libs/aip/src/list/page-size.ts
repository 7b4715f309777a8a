import type { FieldViolation } from '../errors.ts'

/** The value of a query parameter, or its violation, so that a route can report all violations in one error. */
export type Parsed<Value> = { value: Value; violation?: never } | { violation: FieldViolation; value?: never }

const defaultPageSize = 10
const maxPageSize = 1000
const maxSkip = 2 ** 31 - 1

const parseCount = (field: string, text: string, max: number): Parsed<number> => {
  const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  return value <= max
    ? { value }
    : { violation: { field, description: `must be a whole number from 0 to ${max}, in decimal digits` } }
}

/**
 * Parses `pageSize` (AIP-158): decimal digits, 0 to 9007199254740991. Default 10, also for 0; values above 1000 mean
 * 1000.
 */
export const parsePageSize = (text: string | undefined): Parsed<number> => {
  const parsed = parseCount('pageSize', text ?? '0', Number.MAX_SAFE_INTEGER)
  return parsed.violation ? parsed : { value: Math.min(parsed.value || defaultPageSize, maxPageSize) }
}

/** Parses `skip`, the number of items to skip (AIP-158): decimal digits, 0 to 2147483647; default 0. */
export const parseSkip = (text: string | undefined): Parsed<number> =>
  parseCount('skip', text ?? '0', maxSkip)
