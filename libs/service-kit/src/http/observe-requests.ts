import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { durationBuckets, Gauge, Histogram } from '../telemetry/metrics.ts'

/** The status of a request whose client disconnected before the response (nginx's 499). It is never sent. */
export const clientClosedRequest = 499

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Gives the route, such as a probe, no span and only debug log lines. */
    isUnlogged?: boolean
  }
  interface FastifyReply {
    /** Whether the response is sent, or the client has disconnected. */
    hasEnded: boolean
    /** Called when the client disconnects before its response. */
    onDisconnect: (() => void) | undefined
    /** How long the request has waited for its turn so far, in milliseconds. */
    waitedMs: number | undefined
    /** Ends the request while its response continues: an event stream is one until its head is sent. */
    endRequest(): void
  }
}

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the head of a request to the end of its response; status 499 if the client disconnected first',
  labelNames: ['method', 'route', 'status'],
  buckets: durationBuckets,
})

let requestsInFlight = 0
new Gauge({
  name: 'http_requests_in_flight',
  help: 'Requests whose response is not sent yet',
  collect() {
    this.set(requestsInFlight)
  },
})

/** The id that the caller sends, or a new one. */
export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const id = headers['x-request-id']
  // Node joins repeated headers with a comma and a space; an id cannot contain a space.
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : randomUUID()
}

export const isUnlogged = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  routeOptions.config?.isUnlogged === true

/** Adds the request id to responses for callers, and logs and measures each request once, at its end. */
export const observeRequests = (
  app: FastifyInstance,
  isBehindGateway: boolean,
  endSpan?: (request: FastifyRequest, status: number) => void,
): void => {
  app.decorateReply('hasEnded', false)
  app.decorateReply('onDisconnect', undefined)
  app.decorateReply('waitedMs', undefined)
  const end = (request: FastifyRequest, reply: FastifyReply, status: number) => {
    if (reply.hasEnded) return
    reply.hasEnded = true
    requestsInFlight--
    const { method, routeOptions } = request
    logRequest(request, reply, status, isBehindGateway)
    // The pattern of the route and not the path, since callers must not create series.
    duration.observe({ method, route: routeOptions.url ?? 'none', status }, reply.elapsedTime / 1000)
    endSpan?.(request, status)
  }
  app.decorateReply('endRequest', function (this: FastifyReply) {
    end(this.request, this, this.raw.statusCode)
  })
  app.addHook('onRequest', (request, reply, done) => {
    requestsInFlight++
    // The gateway would replace them, and they take 4% of the CPU time of a get.
    if (!isBehindGateway) reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
    // Fastify does not call onResponse when the connection closes first.
    reply.raw.on('close', () => {
      // First, since a request that leaves a queue notes how long it has waited.
      reply.onDisconnect?.()
      end(request, reply, clientClosedRequest)
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    end(request, reply, reply.statusCode)
    done()
  })
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100

/** Logs a request when it ends: failures at `info`, others behind the gateway, which logs them as well, at `debug`. */
const logRequest = (
  { log, method, routeOptions, identity }: FastifyRequest,
  reply: FastifyReply,
  status: number,
  isBehindGateway: boolean,
): void =>
  log[isUnlogged({ routeOptions }) || (isBehindGateway && status < 500) ? 'debug' : 'info'](
    {
      method,
      route: routeOptions.url,
      status,
      duration_ms: rounded(reply.elapsedTime),
      waited_ms: reply.waitedMs && rounded(reply.waitedMs),
      // Absent where the caller is unknown.
      user: identity?.userId,
      organization: identity?.organizationId,
    },
    status === clientClosedRequest ? 'client disconnected' : 'request completed',
  )
