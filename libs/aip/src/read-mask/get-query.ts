import { GetQuery } from '@fms/contracts'
import { invalidRequest } from '../errors.ts'
import { toFieldViolations } from '../field-violations.ts'
import type { MaskMembers } from './mask-members.ts'
import { parseReadMask, type ReadMask } from './parse-read-mask.ts'

/**
 * Parses the raw query of a read of one resource (AIP-131, AIP-157).
 *
 * @param members of the resource.
 * @returns the mask, or undefined for all members.
 * @throws {ApiError} INVALID_REQUEST with all violations.
 */
export const readGetQuery = (query: unknown, members: MaskMembers): ReadMask | undefined => {
  const { error } = GetQuery.safeParse(query)
  const { data: text = '' } = GetQuery.shape.readMask.safeParse((query as { readMask?: unknown }).readMask)
  const { readMask, violations } = parseReadMask(text, members)
  const all = [...(error ? toFieldViolations(error) : []), ...violations]
  if (all.length > 0) throw invalidRequest(all)
  return readMask
}
