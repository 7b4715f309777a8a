import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import { watchEventLoop } from './event-loop.ts'

// A process is one service and has one registry: what a module counts, it makes at its top with these.
export { Counter, Gauge, Histogram }

/** Seconds: from a read out of memory to a publish that waits for its deadline. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the head of a request to the end of its answer; status 499 where its caller went away before',
  labelNames: ['method', 'route', 'status'],
  buckets: durationBuckets,
})

const errors = new Counter({
  name: 'http_error_responses_total',
  help: 'Error answers that this service made itself, by the reason in their ErrorInfo',
  labelNames: ['reason'],
})

let requestsInFlight = 0
new Gauge({
  name: 'http_requests_in_flight',
  help: 'Requests that have no answer yet',
  collect() {
    this.set(requestsInFlight)
  },
})

/** Notes an error answer. @param reason one of `docs/errors.md`, so that there are no more series than those. */
export const countError = (reason: string): void => errors.inc({ reason })

/** Notes that a request has begun; {@link endRequest} follows for each. */
export const beginRequest = (): void => {
  requestsInFlight++
}

export const endRequest = (request: FastifyRequest, reply: FastifyReply, status: number): void => {
  requestsInFlight--
  observeRequest(request, reply, status)
}

/** Notes how long a request took, for one that had its answer as soon as it began. */
export const observeRequest = (
  { method, routeOptions }: FastifyRequest,
  reply: FastifyReply,
  status: number,
): void => {
  // Patterns, never paths: what callers write must not make up new series.
  duration.observe({ method, route: routeOptions.url ?? 'none', status }, reply.elapsedTime / 1000)
}

let hasDefaults = false

/**
 * `GET /metrics` in the Prometheus text format: the duration of requests by method, route and status, what prom-client
 * tells of every Node process (CPU, memory, event-loop delay, garbage collection), the longest synchronous work, and
 * what other modules count.
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
