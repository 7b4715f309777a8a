import type { ServerResponse } from 'node:http'
import { type EventType, eventTypes } from '@fms/contracts'
import { workerTasks } from '@fms/scheduling/worker-threads'
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'

// A process is one service with one registry. Modules create their metrics at the top level with these classes.
export { Counter, Gauge, Histogram }

/** Histogram buckets in seconds, from a cached read to a publish that reaches its deadline. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const errors = new Counter({
  name: 'http_error_responses_total',
  help: 'Error responses that this service created, by the reason in their ErrorInfo',
  labelNames: ['reason'],
})

const openStreams = new Gauge({
  name: 'event_streams_open',
  help: 'Open event streams; they do not count as requests in flight',
})

new Gauge({
  name: 'worker_tasks',
  help: 'Work on large drafts, and on SQLite on large pages, that waits for a worker thread, or runs in one',
  collect() {
    this.set(workerTasks())
  },
})

/** Counts an event stream as open until its response closes. */
export const countEventStream = (raw: ServerResponse): void => {
  openStreams.inc()
  raw.once('close', () => openStreams.dec())
}

/** Counts an error response. @param reason one of `docs/errors.md`, which bounds the number of series. */
export const countError = (reason: string): void => errors.inc({ reason })

const recorded = new Counter({
  name: 'events_recorded_total',
  help: 'Form events that changes of this service recorded, by type',
  labelNames: ['type'],
})
for (const type of eventTypes) recorded.inc({ type }, 0)

export const countRecordedEvent = (type: EventType): void => recorded.inc({ type })

// In milliseconds: the default, 10, wakes an idle process twice as often.
collectDefaultMetrics({ eventLoopMonitoringPrecision: 20 })

/** Adds `GET /metrics` in the Prometheus text format: requests, prom-client's defaults and the metrics of other modules. */
export const exposeMetrics = (app: FastifyInstance): void => {
  app.get('/metrics', { config: { isUnlogged: true } }, async (_, reply) =>
    reply.type(register.contentType).send(await register.metrics()),
  )
}
