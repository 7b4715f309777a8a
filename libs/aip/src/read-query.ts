import { GetQuery } from '@fms/contracts'
import type { z } from 'zod'
import { ApiError, invalidRequest } from './errors.ts'
import { toFieldViolations } from './field-violations.ts'
import { type MaskSchema, parseReadMask, type ReadMask } from './read-mask/read-mask.ts'

export type QuerySchema<Q> = z.ZodType<Q> & { shape: object }

/** Parses a parameter. @returns undefined if it is invalid: its error is kept, so that the others are checked too. */
export type TryParse = <T>(field: string, parse: () => T) => T | undefined

/**
 * Parses the raw query of a request. `read` gets the parameters that the schema accepts.
 *
 * @throws {ApiError} that of the only invalid parameter; otherwise INVALID_REQUEST with all violations.
 */
export const readQuery = <Q, T>(
  query: unknown,
  schema: QuerySchema<Q>,
  read: (params: Q, tryParse: TryParse) => T,
): T => {
  const errors: { field: string; error: ApiError }[] = []
  const tryParse: TryParse = (field, parse) => {
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      errors.push({ field, error })
      return undefined
    }
  }
  const { data, error } = schema.safeParse(query)
  if (error) errors.push({ field: '', error: invalidRequest(toFieldViolations(error)) })
  const result = read(error ? validPart(query, schema, error) : data, tryParse)
  const [first] = errors
  if (!first) return result
  if (errors.length === 1) throw first.error
  throw invalidRequest(
    errors.flatMap(
      ({ field, error: { parts, message } }) => parts.fieldViolations ?? [{ field, description: message }],
    ),
  )
}

const validPart = <Q>(query: unknown, schema: QuerySchema<Q>, { issues }: z.ZodError): Q => {
  const invalid = new Set(issues.map(({ path }) => path[0]))
  const names = Object.keys(schema.shape).filter((name) => !invalid.has(name))
  return schema.parse(
    Object.fromEntries(names.map((name) => [name, (query as Record<string, unknown>)[name]])),
  )
}

/** Parses the raw query of a read of one resource (AIP-131, AIP-157). @throws {ApiError} INVALID_REQUEST. */
export const readGetQuery = (query: unknown, members: MaskSchema): ReadMask | undefined =>
  readQuery(query, GetQuery, ({ readMask }, tryParse) =>
    tryParse('readMask', () => parseReadMask(readMask, members)),
  )
