import { invalidRequest, readFilterQuery } from '@fms/aip'
import { maxSafeInteger, StreamEventsQuery } from '@fms/contracts'
import { assertReached, eventFilterFields } from '@fms/forms-store'
import { type AddRoute, countEventStream, flowOf } from '@fms/service-kit'
import type { FormsDeps } from '../../deps.ts'
import { EventStream } from '../../events/event-stream.ts'
import { assertNotPruned } from '../../events/log-range.ts'
import { OrganizationParams } from '../form-params.ts'

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Keeps nginx, and proxies that follow it, from buffering the stream.
  'x-accel-buffering': 'no',
}

/** Stream the events of an organization as they are recorded (server-sent events, WHATWG HTML §9.2). */
export const streamEvents: AddRoute<FormsDeps> = (
  app,
  { forms: { events }, eventReader: reader, eventTails: tails },
) => {
  app.get(
    '/organizations/:organizationId/events/stream',
    { schema: { params: OrganizationParams } },
    async (request, reply) => {
      const { organizationId } = request.params
      const { params, filter } = readFilterQuery(request.query, StreamEventsQuery, eventFilterFields)
      const start = lastEventIdOf(request.headers['last-event-id']) ?? params.afterSequence
      const range = await events.range(organizationId)
      const { lastSequence } = range
      const position = start === undefined ? lastSequence : Number(start)
      assertNotPruned(position, range)
      assertReached(position, range)
      reply.headers(headers)
      if (request.method === 'HEAD') return reply.send()
      if (reply.hasEnded) return reply.hijack()

      const { raw } = reply.hijack()
      raw.writeHead(200, reply.getHeaders() as Record<string, string>)
      reply.endRequest()
      const flow = flowOf(request.identity)
      const options = { raw, log: request.log, events, reader, tails }
      const stream = new EventStream({ ...options, organizationId, filter, position, lastSequence, flow })
      countEventStream(raw)
      app.endOnDrain(raw, () => stream.end())
    },
  )
}

/** A sequence from `Last-Event-ID`; undefined if missing or empty. @throws {ApiError} INVALID_REQUEST */
const lastEventIdOf = (header: string | string[] | undefined): string | undefined => {
  if (header === undefined || header === '') return undefined
  if (typeof header === 'string' && /^[0-9]{1,16}$/.test(header) && Number(header) <= maxSafeInteger)
    return header
  throw invalidRequest([{ field: 'Last-Event-ID', description: 'must be the id of an event in the stream' }])
}
