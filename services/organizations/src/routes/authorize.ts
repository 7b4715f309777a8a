import { AuthorizeRequest, AuthorizeResponse, NoQuery } from '@fms/contracts'
import { type AddRoute, apiKeyInvalid } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { createKeyUseRecorder } from '../key-uses.ts'

/** Authorize a request of the gateway: the user of an API key, and the user's role in an organization. */
export const authorize: AddRoute<OrganizationsDeps> = (app, deps) => {
  const { directory, now } = deps
  const recordKeyUse = createKeyUseRecorder(deps)

  app.post(
    '/internal/authorize',
    { schema: { body: AuthorizeRequest, querystring: NoQuery, response: { 200: AuthorizeResponse } } },
    async ({ body, log }, reply) => {
      const authorization = await directory.authorize(body, now())
      if (!authorization) throw apiKeyInvalid()
      const { key, organization } = authorization
      // Runs after the response, also if the gateway has disconnected.
      const recordUse = () => recordKeyUse(key, log)
      reply.then(recordUse, recordUse)
      return {
        userId: key.userId,
        keyId: key.keyId,
        keyPrefix: key.prefix,
        readOnly: key.readOnly,
        ...(organization && { organization }),
      }
    },
  )
}
