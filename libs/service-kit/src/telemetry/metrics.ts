import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import { watchEventLoop } from './event-loop.ts'

// A process is one service with one registry. Modules create their metrics at the top level with these classes.
export { Counter, Gauge, Histogram }

/** Histogram buckets in seconds, from a cached read to a publish that reaches its deadline. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the head of a request to the end of its response; status 499 if the client disconnected first',
  labelNames: ['method', 'route', 'status'],
  buckets: durationBuckets,
})

const errors = new Counter({
  name: 'http_error_responses_total',
  help: 'Error responses that this service created, by the reason in their ErrorInfo',
  labelNames: ['reason'],
})

let requestsInFlight = 0
new Gauge({
  name: 'http_requests_in_flight',
  help: 'Requests whose response is not sent yet',
  collect() {
    this.set(requestsInFlight)
  },
})

let openStreams = 0
new Gauge({
  name: 'event_streams_open',
  help: 'Open event streams; they do not count as requests in flight',
  collect() {
    this.set(openStreams)
  },
})

/** Counts an event stream as open until its response closes. */
export const countEventStream = (raw: ServerResponse): void => {
  openStreams++
  raw.once('close', () => openStreams--)
}

/** Counts an error response. @param reason one of `docs/errors.md`, which bounds the number of series. */
export const countError = (reason: string): void => errors.inc({ reason })

/** Counts a request as in flight, until {@link endRequest}. */
export const beginRequest = (): void => {
  requestsInFlight++
}

/** Ends a request of {@link beginRequest} and records its duration. */
export const endRequest = (
  { method, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  status: number,
): void => {
  requestsInFlight--
  // The pattern of the route and not the path, since callers must not create series.
  duration.observe({ method, route: routeOptions.url ?? 'none', status }, reply.elapsedTime / 1000)
}

let hasDefaults = false

/**
 * Adds `GET /metrics` in the Prometheus text format: the duration of requests by method, route and status, prom-client's
 * default metrics (CPU, memory, event-loop delay, garbage collection), the longest synchronous task, and the metrics of
 * other modules.
 */
export const exposeMetrics = (app: FastifyInstance): void => {
  if (!hasDefaults) {
    collectDefaultMetrics()
    watchEventLoop()
  }
  hasDefaults = true
  app.get('/metrics', { config: { isUnlogged: true } }, async (_, reply) =>
    reply.type(register.contentType).send(await register.metrics()),
  )
}
