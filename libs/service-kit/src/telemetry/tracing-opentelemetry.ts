import type { JsMsg } from '@nats-io/jetstream'
import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { MsgHdrs } from 'nats'
import { createMessageSpans, createRequestSpans, createStoreSpans, spanFields } from './spans.ts'

/** The least time between two log lines about failed exports, in milliseconds. */
const warnIntervalMs = 60_000

/** The implementation of tracing.ts by the OpenTelemetry SDK. Loaded only when tracing is enabled. */
export interface Tracing {
  traceRequests(app: FastifyInstance): void
  endRequest(request: FastifyRequest, status: number): void
  sending<T>(subject: string, headers: MsgHdrs, send: () => Promise<T>): Promise<T>
  delivery<T>(message: JsMsg, consumer: string, handle: () => Promise<T>): Promise<T>
  storeCall<T>(store: string, engine: string, operation: string, call: () => T): T
  fields(): { trace_id?: string; span_id?: string }
  stop(): Promise<void>
}

/**
 * Starts the SDK. The names of spans and attributes follow OpenTelemetry's semantic conventions for HTTP, messaging and
 * databases.
 */
export const createTracing = (service: string, logger: FastifyBaseLogger): Tracing => {
  logExportErrors(logger)
  const sdk = startSdk(service)
  const tracer = trace.getTracer('form-management')
  return {
    ...createRequestSpans(tracer),
    ...createMessageSpans(tracer),
    ...createStoreSpans(tracer),

    fields: () => {
      const span = trace.getActiveSpan()
      return span ? spanFields(span) : {}
    },

    async stop() {
      await sdk.shutdown()
      for (const api of [trace, context, propagation, diag]) api.disable()
    },
  }
}

const startSdk = (service: string): NodeSDK => {
  // Prometheus scrapes the metrics, and log lines go to standard output.
  process.env.OTEL_METRICS_EXPORTER ??= 'none'
  process.env.OTEL_LOGS_EXPORTER ??= 'none'
  const sdk = new NodeSDK({
    serviceName: process.env.OTEL_SERVICE_NAME || service,
    instrumentations: [new UndiciInstrumentation({ requireParentforSpans: true })],
  })
  sdk.start()
  return sdk
}

/** Logs failed exports at most once a minute. The SDK reports each batch, every few seconds. */
const logExportErrors = (logger: FastifyBaseLogger): void => {
  let warnedAt = Number.NEGATIVE_INFINITY
  const warn = (message: string, ...details: unknown[]) => {
    const now = performance.now()
    if (now - warnedAt < warnIntervalMs) return
    warnedAt = now
    logger.warn({ reason: [message, ...details].join(' ').slice(0, 1_000) }, 'cannot export spans')
  }
  const ignore = () => {}
  diag.setLogger(
    { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.ERROR,
  )
}
