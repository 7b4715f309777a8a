import { invalidRequest } from '@fms/aip'
import { CreateKeyRequest, IssuedKey, NoQuery } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { assertNotOutlivesCaller } from '../domain/key-rights.ts'
import { issuedKey } from '../to-key.ts'

/** Create a key of the caller (AIP-133), which may do no more than the key of the request. */
export const createKey: AddRoute<OrganizationsDeps> = (app, { directory, now }) => {
  app.post(
    '/keys',
    { schema: { querystring: NoQuery, body: CreateKeyRequest, response: { 200: IssuedKey } } },
    async ({ body, identity, callerKey }, reply) => {
      const { key, requestId, validateOnly } = body
      const { name, readOnly } = key
      const expireTime = key.expireTime ? new Date(key.expireTime) : undefined
      if (expireTime && expireTime <= now()) {
        throw invalidRequest([{ field: 'key.expireTime', description: 'must be in the future' }])
      }
      assertNotOutlivesCaller(callerKey, { expireTime }, 'key.expireTime')
      const fields = { userId: identity.userId, name, readOnly, expireTime, requestId }
      const issued = await directory.createOwnKey(fields, { validateOnly })
      return issuedKey(reply, issued, validateOnly)
    },
  )
}
