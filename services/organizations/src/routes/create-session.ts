import { apiError } from '@fms/aip'
import {
  CreateSessionRequest,
  NoQuery,
  Session,
  sessionKeyName,
  sessionLifetimeMs,
  sessionsPath,
} from '@fms/contracts'
import { type AddRoute, apiKeyChallenge } from '@fms/service-kit'
import type { OrganizationsDeps } from '../deps.ts'
import { issuedKey, toUser } from '../to-key.ts'

/** Exchange a login code for the key of a session, for the gateway: the caller has no key yet. */
export const createSession: AddRoute<OrganizationsDeps> = (app, { directory, now }) => {
  app.post(
    sessionsPath,
    { schema: { querystring: NoQuery, body: CreateSessionRequest, response: { 200: Session } } },
    async ({ body: { code, validateOnly } }, reply) => {
      const expireTime = new Date(now().getTime() + sessionLifetimeMs)
      const issued = await directory.redeemLoginCode(
        code,
        { name: sessionKeyName, expireTime },
        { validateOnly },
      )
      if (!issued) throw apiError('LOGIN_CODE_INVALID', {}, { headers: apiKeyChallenge })
      return { ...issuedKey(reply, issued, validateOnly), user: toUser(issued.user) }
    },
  )
}
