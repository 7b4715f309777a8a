import { invalidRequest } from '@fms/aip'
import { DeleteFormResponse, DeleteKeyQuery, DeleteKeyRequest } from '@fms/contracts'
import { keyNotFound } from '@fms/directory-store'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { OrganizationsDeps } from '../app.ts'

const KeyParams = z.object({ keyId: z.string() })

/** Revoke a key of the caller (AIP-135). The query can request a dry run too, because proxies drop bodies. */
export const deleteKey: FastifyPluginAsyncZod<OrganizationsDeps> = async (app, { directory }) => {
  app.delete(
    '/keys/:keyId',
    {
      schema: {
        params: KeyParams,
        querystring: DeleteKeyQuery,
        body: DeleteKeyRequest,
        response: { 200: DeleteFormResponse },
      },
    },
    async ({ params: { keyId }, query, body, identity: { userId } }) => {
      if (!isDryRun(query, body)) await directory.revokeOwnKey(userId, keyId)
      else if (!(await directory.getOwnKey(userId, keyId))) throw keyNotFound(keyId)
      return {}
    },
  )
}

/** @throws {ApiError} INVALID_REQUEST when body and query disagree: a dry run must never delete. */
const isDryRun = (query: DeleteKeyQuery, body: DeleteKeyRequest): boolean => {
  const inQuery = query.validateOnly === undefined ? undefined : query.validateOnly === 'true'
  if (inQuery !== undefined && body.validateOnly !== undefined && inQuery !== body.validateOnly) {
    throw invalidRequest([{ field: 'validateOnly', description: 'must be the same in body and query' }])
  }
  return inQuery ?? body.validateOnly ?? false
}
