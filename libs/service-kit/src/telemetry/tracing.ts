import type { JsMsg } from '@nats-io/jetstream'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { MsgHdrs } from 'nats'
import type { Tracing } from './tracing-opentelemetry.ts'

/** How long a stop waits for the export of the last spans, in milliseconds. */
const flushMs = 2_000

/** Undefined while tracing is disabled: then the OpenTelemetry SDK is not loaded, and requests have no overhead. */
let tracing: Tracing | undefined

/** Starts OpenTelemetry if an `OTEL_EXPORTER_OTLP_…ENDPOINT` is set. Call it before the app is created. */
export const startTracing = async (
  service: string,
  logger: FastifyBaseLogger,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> => {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT && !env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return
  const { createTracing } = await import('./tracing-opentelemetry.ts')
  tracing = createTracing(service, logger)
}

/** Exports the last spans, or gives up after 2 s when the collector is out of reach. */
export const stopTracing = async (): Promise<void> => {
  const stopping = tracing?.stop()
  tracing = undefined
  if (!stopping) return
  const timeout = new Promise((resolve) => setTimeout(resolve, flushMs).unref())
  await Promise.race([stopping.catch(() => {}), timeout])
}

/** Adds hooks that create a span per request; call it before other hooks. @returns the function that ends one. */
export const traceRequests = (app: FastifyInstance) => tracing?.traceRequests(app)

/** Sends a message within a span, in the trace of its headers or else in the current one, and adds the span to its headers. */
export const traceSending = <T>(subject: string, headers: MsgHdrs, send: () => Promise<T>): Promise<T> =>
  tracing ? tracing.sending(subject, headers, send) : send()

/** Handles a delivery within a span, in the trace of its headers. Redeliveries have spans in the same trace. */
export const traceDelivery = <T>(message: JsMsg, consumer: string, handle: () => Promise<T>): Promise<T> =>
  tracing ? tracing.delivery(message, consumer, handle) : handle()

/** Calls a store within a span, if there is a current span. */
export const traceStoreCall = <T>(store: string, engine: string, operation: string, call: () => T): T =>
  tracing ? tracing.storeCall(store, engine, operation, call) : call()

/** The log fields of the current span; none without one. */
export const traceFields = (): { trace_id?: string; span_id?: string } => tracing?.fields() ?? {}
