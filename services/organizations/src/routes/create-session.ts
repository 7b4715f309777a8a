import { apiError } from '@fms/aip'
import {
  CreateSessionRequest,
  IssuedKey,
  NoQuery,
  sessionKeyName,
  sessionLifetimeMs,
  sessionsPath,
} from '@fms/contracts'
import { apiKeyChallenge } from '@fms/service-kit'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { OrganizationsDeps } from '../deps.ts'
import { secretHeaders, toIssuedKey } from '../to-key.ts'

/** Exchange a login code for the key of a session, for the gateway: the caller has no key yet. */
export const createSession: FastifyPluginAsyncZod<OrganizationsDeps> = async (app, { directory, now }) => {
  app.post(
    sessionsPath,
    { schema: { querystring: NoQuery, body: CreateSessionRequest, response: { 200: IssuedKey } } },
    async ({ body: { code } }, reply) => {
      const expireTime = new Date(now().getTime() + sessionLifetimeMs)
      const issued = await directory.redeemLoginCode(code, { name: sessionKeyName, expireTime })
      if (!issued) throw apiError('LOGIN_CODE_INVALID', {}, { headers: apiKeyChallenge })
      reply.headers(secretHeaders)
      return toIssuedKey(issued)
    },
  )
}
