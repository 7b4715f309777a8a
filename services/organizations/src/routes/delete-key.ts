import { DeleteKeyQuery, DeleteKeyRequest, EmptyResponse } from '@fms/contracts'
import { type AddRoute, deleteOptions } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { KeyParams } from './key-params.ts'

/** Revoke a key of the caller (AIP-135). The query can request a dry run too, because proxies drop bodies. */
export const deleteKey: AddRoute<OrganizationsDeps> = (app, { directory }) => {
  app.delete(
    '/keys/:keyId',
    {
      schema: {
        params: KeyParams,
        querystring: DeleteKeyQuery,
        body: DeleteKeyRequest,
        response: { 200: EmptyResponse },
      },
    },
    async ({ params: { keyId }, query, body, identity: { userId } }) => {
      await directory.revokeOwnKey(userId, keyId, deleteOptions(query, body))
      return {}
    },
  )
}
