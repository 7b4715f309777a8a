import {
  CreateSessionRequest,
  identityHeader,
  NoQuery,
  type ServiceIdentity,
  sessionsPath,
} from '@fms/contracts'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createCachedToken } from '../caller/cached-token.ts'
import { tooManyLoginCodes } from '../errors.ts'
import { Semaphore } from '../limits/semaphore.ts'
import type { UpstreamResponse } from '../upstream/buffering-dispatcher.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Sign-ins that may wait for their turn, and for how long, in milliseconds: as for unknown keys. */
const waiting = { maxWaiting: 1_000, maxWaitMs: 2_000 }

export interface CreateSessionOptions {
  organizations: Upstream
  sign: (identity: ServiceIdentity) => string
  /** Sign-ins in flight. */
  maxAtOnce: number
  bodyLimitBytes: number
}

/**
 * Exchanges a login code for a key. The only route under `/v2` that changes something without a key, so it has a limit of
 * its own: no number of wrong codes delays callers with keys.
 */
export const createSession: FastifyPluginAsyncZod<CreateSessionOptions> = async (
  app,
  { organizations, sign, maxAtOnce, bodyLimitBytes: bodyLimit },
) => {
  const inFlight = new Semaphore({ max: maxAtOnce, ...waiting })
  const token = createCachedToken(() => sign({ service: 'gateway' }))
  app.post(
    '/sessions',
    { schema: { querystring: NoQuery, body: CreateSessionRequest }, bodyLimit },
    async ({ id, body }, reply) => {
      if (!(await inFlight.acquire())) throw tooManyLoginCodes(maxAtOnce)
      try {
        const response = await organizations.request({
          method: 'POST',
          path: sessionsPath,
          headers: { 'content-type': 'application/json', 'x-request-id': id, [identityHeader]: token() },
          body: JSON.stringify(body),
          circuitKey: 'sessions',
        })
        return sendUnchanged(reply, response)
      } finally {
        inFlight.release()
      }
    },
  )
}

/** Sends the short response of organizations, which no cache may store. */
const sendUnchanged = (reply: FastifyReply, { statusCode, headers, body }: UpstreamResponse) => {
  for (const name of ['content-type', 'retry-after', 'www-authenticate']) {
    const value = headers[name]
    if (value !== undefined) reply.header(name, value)
  }
  return reply.code(statusCode).header('cache-control', 'no-store').send(body)
}
