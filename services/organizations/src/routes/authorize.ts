import { AuthorizeRequest, AuthorizeResponse, NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { OrganizationsDeps } from '../app.ts'
import { apiKeyInvalid } from '../errors.ts'
import { keepKeyUses } from '../key-uses.ts'

/** Tell the gateway whose key it is, and what the organization is to them. */
export const authorize: FastifyPluginAsyncZod<OrganizationsDeps> = async (app, deps) => {
  const { directory, now } = deps
  const noteUse = keepKeyUses(deps)

  app.post(
    '/internal/authorize',
    { schema: { body: AuthorizeRequest, querystring: NoQuery, response: { 200: AuthorizeResponse } } },
    async ({ body, log }, reply) => {
      const authorization = await directory.authorize(body, now())
      if (!authorization) throw apiKeyInvalid()
      const { key, organization } = authorization
      // Behind the answer, and also when nobody waited for it.
      const done = () => noteUse(key, log)
      reply.then(done, done)
      return {
        userId: key.userId,
        keyId: key.keyId,
        readOnly: key.readOnly,
        ...(organization && { organization }),
      }
    },
  )
}
