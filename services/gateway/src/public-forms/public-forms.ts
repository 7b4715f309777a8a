import { identityHeader } from '@fms/contracts'
import { type AddRoute, overloaded, toPathSegment } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AdmissionQueue } from '../admission/admission-queue.ts'
import { MemoryBudget } from '../admission/memory-budget.ts'
import type { GatewayDeps } from '../deps.ts'
import { publicFormNotFound } from '../errors.ts'
import { addressGroupOf } from '../limits/address-group.ts'
import { limitAddresses } from '../limits/rate-limit.ts'
import { addVary } from '../responses/headers.ts'
import { discard, pick, sendResponse, tryReserveMemory } from '../upstream/forward.ts'
import { StreamedBody, textOf, type UpstreamResponse } from '../upstream/upstream.ts'
import { addFormPage } from './form-page.ts'

/** Reads under way in forms: few, beside the seats of callers with keys. */
const seats = { seats: 4, perOrganization: 2 }

/** Bytes of forms over 256 KiB that are on their way to respondents; at least two forms for an address. */
const maxBytes = 16 * 1024 * 1024
const minBytes = 2 * 1024 * 1024

/**
 * What anybody may see of live forms. Shares no limit, seat or memory with callers with keys. Ignores queries. Who requests a
 * page gets it also instead of an error.
 */
export const publicForms: AddRoute<GatewayDeps> = (app, deps) => {
  const { sendPage, toPage } = addFormPage(app, deps)
  const read = createReader(deps)
  app.register(async (limited) => {
    limitAddresses(limited, deps.addressCounts, 'public forms')
    limited.addHook('onSend', async (request, reply, payload) =>
      reply.statusCode >= 400 && wantsPage(request) ? toPage(reply, payload) : payload,
    )
    limited.get('/f/:name', async (request, reply) => {
      addVary(reply, 'accept')
      const { name } = request.params as { name: string }
      const publicId = /^([A-Za-z0-9]{10})(?:\.json)?$/.exec(name)?.[1]
      if (publicId === undefined) throw publicFormNotFound(toPathSegment(name.replace(/\.json$/, '')))
      if (!wantsPage(request)) {
        await read(publicId, request, reply, request.headers['if-none-match'], sendForm)
        return reply
      }
      // A condition that holds if there is any form (RFC 9110 §13.1.2), so that forms reads no snapshot.
      let isLive = false
      await read(publicId, request, reply, '*', (_, response) => {
        isLive = response.statusCode === 304
        if (isLive) textOf(response)
        else sendForm(reply, response)
      })
      return isLive && !reply.raw.destroyed ? sendPage(request, reply) : reply
    })
  })
}

/** Whether the response is for people: not if the client accepts JSON and no pages. A weight of 0 rejects (RFC 9110 §12.4.2). */
const wantsPage = ({ params, headers: { accept = '' } }: FastifyRequest): boolean => {
  if ((params as { name: string }).name.endsWith('.json')) return false
  const types = accept.split(',').filter((type) => !/;\s*q=0(\.0*)?\s*$/i.test(type))
  const accepts = (wanted: RegExp) => types.some((type) => wanted.test(type))
  return accepts(/\btext\/html\b/i) || !accepts(/\bapplication\/json\b/i)
}

/** A function that reads the public JSON of a form, in the turn of the caller's address. */
const createReader = ({ forms, token }: GatewayDeps) => {
  const queue = new AdmissionQueue('public forms', seats)
  const budget = new MemoryBudget('public forms', maxBytes, minBytes)

  return async (
    publicId: string,
    { id, ip }: FastifyRequest,
    reply: FastifyReply,
    ifNoneMatch: string | undefined,
    send: (reply: FastifyReply, response: UpstreamResponse) => void,
  ): Promise<void> => {
    const address = addressGroupOf(ip)
    const flow = { organization: address, user: address }
    const work = async () => {
      const response = await forms.request({
        method: 'GET',
        path: `/internal/forms/${publicId}/public`,
        headers: {
          'x-request-id': id,
          [identityHeader]: token(),
          ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
        },
        reply,
      })
      const { body } = response
      const canSend = tryReserveMemory(flow, reply, response, budget)
      if (!canSend || reply.raw.destroyed) discard(body)
      else send(reply, response)
      if (!canSend) throw overloaded()
      if (body instanceof StreamedBody) await body.received
    }
    await queue.admit({ flow, reply }, work)
    if (reply.raw.destroyed) reply.hijack()
  }
}

/** Any cache may keep a form, and asks whether it is current before each use. No cache keeps an error. */
const sendForm = (reply: FastifyReply, { statusCode, headers, body }: UpstreamResponse): void => {
  reply.code(statusCode).header('cache-control', 'public, no-cache')
  reply.headers(pick(headers, ['content-type', 'content-length', 'etag', 'retry-after']))
  sendResponse(reply, body)
}
