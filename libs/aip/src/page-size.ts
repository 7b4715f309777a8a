import type { FieldViolation } from './errors.ts'

/** A query parameter's value, or what is wrong with it: a list route collects several before it answers. */
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
 * Read `pageSize` (AIP-158): plain decimal digits, at most 9007199254740991. Omitted or 0 means 10; more than
 * 1000 means 1000.
 */
export const parsePageSize = (text: string | undefined): Parsed<number> => {
  const parsed = parseCount('pageSize', text ?? '0', Number.MAX_SAFE_INTEGER)
  return parsed.violation ? parsed : { value: Math.min(parsed.value || defaultPageSize, maxPageSize) }
}

/** Read `skip` (AIP-158), the items to pass over: plain decimal digits, 0 to 2147483647, 0 when omitted. */
export const parseSkip = (text: string | undefined): Parsed<number> =>
  parseCount('skip', text ?? '0', maxSkip)
