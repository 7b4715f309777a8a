import { IssuedKey, NoQuery, RotateKeyRequest } from '@fms/contracts'
import type { ApiKey } from '@fms/directory-store'
import type { AddRoute } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { assertMayOverlap, assertNotOutlivesCaller } from '../domain/key-rights.ts'
import { issuedKey } from '../to-key.ts'
import { KeyParams } from './key-params.ts'

/** Replace a key of the caller by one with the same name, rights and expireTime (AIP-136). */
export const rotateKey: AddRoute<OrganizationsDeps> = (app, { directory }) => {
  app.post(
    '/keys/:keyId/rotate',
    {
      schema: {
        params: KeyParams,
        querystring: NoQuery,
        body: RotateKeyRequest,
        response: { 200: IssuedKey },
      },
    },
    async ({ params: { keyId }, body, identity, callerKey }, reply) => {
      const { overlapSeconds, requestId, validateOnly } = body
      assertMayOverlap(callerKey, overlapSeconds)
      const rotation = {
        userId: identity.userId,
        keyId,
        overlapMs: overlapSeconds * 1000,
        requestId,
        assertAllowed: (old: ApiKey) => assertNotOutlivesCaller(callerKey, old),
      }
      const issued = await directory.rotateOwnKey(rotation, { validateOnly })
      return issuedKey(reply, issued, validateOnly)
    },
  )
}
