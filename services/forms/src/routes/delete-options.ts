import { invalidRequest } from '@fms/aip'
import type { DeleteFormQuery, DeleteFormRequest } from '@fms/contracts'

/**
 * The options of a DELETE, which the query can have instead of the body, because proxies drop bodies.
 *
 * @throws {ApiError} INVALID_REQUEST with the members in which body and query disagree: a dry run must never delete.
 */
export const deleteOptions = (query: DeleteFormQuery, body: DeleteFormRequest) => {
  const inQuery = { ...query, validateOnly: query.validateOnly && query.validateOnly === 'true' }
  const names = ['requestId', 'validateOnly'] as const
  const violations = names
    .filter((name) => body[name] !== undefined && inQuery[name] !== undefined && body[name] !== inQuery[name])
    .map((field) => ({ field, description: 'must be the same in body and query' }))
  if (violations.length > 0) throw invalidRequest(violations)
  return {
    requestId: inQuery.requestId ?? body.requestId,
    validateOnly: inQuery.validateOnly ?? body.validateOnly ?? false,
  }
}
