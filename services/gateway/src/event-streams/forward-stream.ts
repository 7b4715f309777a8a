import { Readable } from 'node:stream'
import { operations, routePatternOf } from '@fms/contracts'
import { type AddRoute, flowOf } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { reauthorize } from '../caller/authenticate.ts'
import type { GatewayDeps } from '../deps.ts'
import { pick, requestHeadersOf, sendResponse, upstreamUrl } from '../upstream/forward.ts'
import { OpenStream } from './open-stream.ts'
import { StreamLimits } from './stream-limits.ts'

/** Bytes that wait for a caller. Beyond them, nothing is read from the service. */
const maxWaitingBytes = 64 * 1024

/** Forwards an event stream. It is a request in flight until its head arrives, and from then on counts as a stream. */
export const forwardStream: AddRoute<GatewayDeps> = (app, deps) => {
  const limits = new StreamLimits()
  const open = (request: FastifyRequest, reply: FastifyReply, body: Readable) => {
    const { raw } = reply.hijack()
    raw.writeHead(200, { ...reply.getHeaders(), 'x-accel-buffering': 'no' } as Record<string, string>)
    raw.flushHeaders()
    request.permit.release()
    reply.endRequest()
    const authorize = () => reauthorize(request, deps.authorize)
    const stream = new OpenStream({ raw, body, log: request.log, authorize })
    limits.setEnd(raw, () => stream.end('displaced'))
    app.endOnDrain(raw, () => stream.end('drain'))
  }

  app.route({
    method: ['GET', 'HEAD'],
    url: routePatternOf(operations.streamEvents),
    handler: async (request, reply) => {
      if (request.method === 'GET') reply.raw.once('close', limits.acquire(request.identity, reply.raw))
      const response = await requestStream(request, reply, deps)
      if (!response) return reply.hijack()
      const { statusCode, headers, body } = response
      reply.code(statusCode).headers(pick(headers, ['content-type', 'retry-after']))
      if (statusCode === 200 && body instanceof Readable) return open(request, reply, body)
      return sendResponse(reply, body)
    },
  })
}

/** Sends the request to the service. @returns undefined when the caller has disconnected. */
const requestStream = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { forms, queues, authorize, streamAgent: agent }: GatewayDeps,
) => {
  const send = () =>
    forms.request({
      method: request.method as 'GET' | 'HEAD',
      path: upstreamUrl(request),
      headers: { ...requestHeadersOf(request), ...lastEventIdOf(request) },
      reply,
      agent,
      maxBufferedBytes: maxWaitingBytes,
    })
  const admission = {
    flow: flowOf(request.identity),
    reply,
    reauthorize: () => reauthorize(request, authorize),
  }
  const response = await queues.forms.admit(admission, send)
  if (!reply.raw.destroyed) return response
  if (response?.body instanceof Readable) response.body.destroy()
  return undefined
}

const lastEventIdOf = ({ headers }: FastifyRequest) => {
  const id = headers['last-event-id']
  return id === undefined ? {} : { 'last-event-id': id }
}
