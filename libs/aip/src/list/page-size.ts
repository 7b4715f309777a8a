import { invalidRequest } from '../errors.ts'

const defaultPageSize = 10
const maxPageSize = 1000
const maxSkip = 2 ** 31 - 1

/** @throws {ApiError} INVALID_REQUEST */
const parseCount = (field: string, text: string, max: number): number => {
  const count = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (count <= max) return count
  throw invalidRequest([{ field, description: `must be a whole number from 0 to ${max}, in decimal digits` }])
}

/** Parses `pageSize` (AIP-158). Default 10, also for 0; values above 1000 mean 1000. */
export const parsePageSize = (text = '0'): number =>
  Math.min(parseCount('pageSize', text, Number.MAX_SAFE_INTEGER) || defaultPageSize, maxPageSize)

/** Parses `skip`, the number of items to skip (AIP-158); default 0. */
export const parseSkip = (text = '0'): number => parseCount('skip', text, maxSkip)
