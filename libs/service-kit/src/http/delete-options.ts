import { invalidRequest } from '@fms/aip'
import type { DeleteFormQuery, DeleteFormRequest, DeleteKeyQuery, DeleteKeyRequest } from '@fms/contracts'

/** The options of a DELETE from query and body: proxies drop bodies. @throws {ApiError} INVALID_REQUEST if they differ */
export const deleteOptions = (
  query: DeleteFormQuery | DeleteKeyQuery,
  body: DeleteFormRequest | DeleteKeyRequest,
) => {
  const inBody: DeleteFormRequest = body
  const inQuery: DeleteFormRequest = {
    ...query,
    validateOnly: query.validateOnly && query.validateOnly === 'true',
  }
  const violations = (['requestId', 'validateOnly'] as const)
    .filter((name) => inBody[name] !== undefined && inQuery[name] !== undefined)
    .filter((name) => inBody[name] !== inQuery[name])
    .map((field) => ({ field, description: 'must be the same in body and query' }))
  if (violations.length > 0) throw invalidRequest(violations)
  return {
    requestId: inQuery.requestId ?? inBody.requestId,
    validateOnly: inQuery.validateOnly ?? inBody.validateOnly ?? false,
  }
}
