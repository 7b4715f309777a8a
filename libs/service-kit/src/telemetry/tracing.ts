import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { JsMsg, MsgHdrs } from 'nats'
import type { Tracing } from './tracing-opentelemetry.ts'

/** How long the last spans may take to leave, in milliseconds. */
const flushMs = 2_000

/** Undefined unless somebody wants traces: then nothing of OpenTelemetry is loaded, and a request costs nothing more. */
let tracing: Tracing | undefined

/**
 * Starts OpenTelemetry where `OTEL_EXPORTER_OTLP_ENDPOINT` (or the one for traces alone) says where spans go. Its SDK
 * reads all other `OTEL_…` variables; `OTEL_SERVICE_NAME` is the service's name unless set. Before the app is made.
 */
export const startTracing = async (
  service: string,
  logger: FastifyBaseLogger,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> => {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT && !env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return
  const { createTracing } = await import('./tracing-opentelemetry.ts')
  tracing = createTracing(service, logger)
}

/** Sends what is still to be sent, and gives up on a collector that is away. */
export const stopTracing = async (): Promise<void> => {
  const stopping = tracing?.stop()
  tracing = undefined
  if (!stopping) return
  const patience = new Promise((resolve) => setTimeout(resolve, flushMs).unref())
  await Promise.race([stopping.catch(() => {}), patience])
}

/** A span for each request, which goes on the trace that the caller's `traceparent` names. Before all other hooks. */
export const traceRequests = (app: FastifyInstance): void => tracing?.traceRequests(app)

/** Ends the request's span. */
export const endRequestSpan = (request: FastifyRequest, status: number): void =>
  tracing?.endRequest(request, status)

/** Sends a message within a span that its headers carry on. Headers that name a trace already stay on that one. */
export const traceSending = <T>(subject: string, headers: MsgHdrs, send: () => Promise<T>): Promise<T> =>
  tracing ? tracing.sending(subject, headers, send) : send()

/** Handles a delivery within a span of the trace that its headers name, however often it is delivered. */
export const traceDelivery = <T>(message: JsMsg, consumer: string, handle: () => Promise<T>): Promise<T> =>
  tracing ? tracing.delivery(message, consumer, handle) : handle()

/** Calls a store within a span, where it is done for somebody whose span there is. */
export const traceStoreCall = <T>(store: string, engine: string, operation: string, call: () => T): T =>
  tracing ? tracing.storeCall(store, engine, operation, call) : call()

/** What ties a log line to the span it is written in: nothing, unless there is one. */
export const traceFields = (): { trace_id?: string; span_id?: string } => tracing?.fields() ?? {}
