import { CreateSessionRequest, identityHeader, NoQuery, sessionsPath } from '@fms/contracts'
import type { AddRoute, App } from '@fms/service-kit'
import type { FastifyReply } from 'fastify'
import type { GatewayDeps } from '../deps.ts'
import { addressGroupOf } from '../limits/address-group.ts'
import { limitAddresses } from '../limits/rate-limit.ts'
import { pick } from '../upstream/forward.ts'
import type { UpstreamResponse } from '../upstream/upstream.ts'

/** Exchanges a login code for a key. The only route under `/v2` that changes something without a key. */
export const createSession: AddRoute<GatewayDeps> = (
  app,
  { organizations, queues, token, addressCounts },
) => {
  app.register(async (limited: App) => {
    limitAddresses(limited, addressCounts, 'sign-ins')
    limited.post(
      '/sessions',
      { schema: { querystring: NoQuery, body: CreateSessionRequest } },
      async ({ id, ip, body }, reply) => {
        const address = addressGroupOf(ip)
        const flow = { organization: address, user: address }
        const send = () =>
          organizations.request({
            method: 'POST',
            path: sessionsPath,
            headers: { 'content-type': 'application/json', 'x-request-id': id, [identityHeader]: token() },
            body: JSON.stringify(body),
          })
        const response = await queues.sessions.admit({ flow, reply }, send)
        return response ? sendUnchanged(reply, response) : reply.hijack()
      },
    )
  })
}

/** Sends the short response of organizations, which no cache may store. */
const sendUnchanged = (reply: FastifyReply, { statusCode, headers, body }: UpstreamResponse) => {
  reply.headers(pick(headers, ['content-type', 'retry-after', 'www-authenticate']))
  return reply.code(statusCode).header('cache-control', 'no-store').send(body)
}
