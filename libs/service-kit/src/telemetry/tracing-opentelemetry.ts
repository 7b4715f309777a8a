import type { JsMsg } from '@nats-io/jetstream'
import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { MsgHdrs } from 'nats'
import { clientClosedRequest, isUnlogged } from '../http/observe-requests.ts'

/** The least time between two log lines about failed exports, in milliseconds. */
const warnIntervalMs = 60_000

/** Implements tracing.ts, loaded only when tracing is enabled. Names follow OpenTelemetry's semantic conventions. */
export const createTracing = (service: string, logger: FastifyBaseLogger) => {
  logExportErrors(logger)
  const sdk = startSdk(service)
  const tracer = trace.getTracer('form-management')
  return {
    traceRequests: createRequestSpans(tracer),
    ...createMessageSpans(tracer),
    ...createStoreSpans(tracer),

    fields: (): { trace_id?: string; span_id?: string } => {
      const span = trace.getActiveSpan()
      return span ? spanFields(span) : {}
    },

    async stop() {
      await sdk.shutdown()
      for (const api of [trace, context, propagation, diag]) api.disable()
    },
  }
}

export type Tracing = ReturnType<typeof createTracing>

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

const createRequestSpans = (tracer: Tracer) => {
  const spans = new WeakMap<FastifyRequest, Span>()

  const start = (request: FastifyRequest): Context => {
    const parent = propagation.extract(ROOT_CONTEXT, request.headers)
    const { url: route } = request.routeOptions
    const name = route ? `${request.method} ${route}` : request.method
    const span = tracer.startSpan(
      name,
      { kind: SpanKind.SERVER, attributes: requestAttributes(request) },
      parent,
    )
    spans.set(request, span)
    request.log = request.log.child(spanFields(span))
    return trace.setSpan(parent, span)
  }

  const end = (request: FastifyRequest, status: number): void => {
    const span = spans.get(request)
    if (!span) return
    const { userId, organizationId } = request.identity ?? {}
    if (userId) span.setAttribute('user.id', userId)
    if (organizationId) span.setAttribute('forms.organization', organizationId)
    if (status === clientClosedRequest) span.setAttribute('error.type', 'caller_gone')
    else span.setAttribute('http.response.status_code', status)
    if (status >= 500) span.setAttribute('error.type', `${status}`).setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  return (app: FastifyInstance) => {
    app.addHook('onRequest', (request, reply, done) => {
      if (isUnlogged(request)) return done()
      const started = start(request)
      reply.log = request.log
      context.with(started, done)
    })
    return end
  }
}

/** Creates the spans of NATS messages. The headers of a message carry its trace. */
const createMessageSpans = (tracer: Tracer) => ({
  sending<T>(subject: string, headers: MsgHdrs, send: () => Promise<T>): Promise<T> {
    const extracted = propagation.extract(ROOT_CONTEXT, headers, natsHeaders)
    const parent = trace.getSpan(extracted) ? extracted : context.active()
    const attributes = messageAttributes(subject, 'send')
    const span = tracer.startSpan(`send ${subject}`, { kind: SpanKind.PRODUCER, attributes }, parent)
    propagation.inject(trace.setSpan(parent, span), headers, natsHeaders)
    return withSpan(span, parent, send)
  },

  delivery<T>(message: JsMsg, consumer: string, handle: () => Promise<T>): Promise<T> {
    const { subject, headers, data, info } = message
    const parent = headers ? propagation.extract(ROOT_CONTEXT, headers, natsHeaders) : ROOT_CONTEXT
    const attributes = {
      ...messageAttributes(subject, 'process'),
      'messaging.consumer.group.name': consumer,
      'messaging.message.body.size': data.length,
      'messaging.nats.delivery_count': info.deliveryCount,
    }
    const span = tracer.startSpan(`process ${subject}`, { kind: SpanKind.CONSUMER, attributes }, parent)
    return withSpan(span, parent, handle)
  },
})

const createStoreSpans = (tracer: Tracer) => ({
  storeCall<T>(store: string, engine: string, operation: string, call: () => T): T {
    const parent = context.active()
    if (!trace.getSpan(parent)) return call()
    const attributes = {
      'db.system.name': engine,
      'db.namespace': store,
      'db.operation.name': operation,
    }
    const kind = engine === 'sqlite' ? SpanKind.INTERNAL : SpanKind.CLIENT
    const span = tracer.startSpan(`${operation} ${store}`, { kind, attributes }, parent)
    const result = context.with(trace.setSpan(parent, span), call)
    Promise.resolve(result).then(
      () => span.end(),
      (error) => {
        setError(span, error)
        span.end()
      },
    )
    return result
  },
})

/** The fields that connect a log line to a span. */
const spanFields = (span: Span): { trace_id: string; span_id: string } => {
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}

const withSpan = async <T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> => {
  try {
    return await context.with(trace.setSpan(parent, span), work)
  } catch (error) {
    setError(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** Sets the error's message, which callers see as well. Causes and stacks are only in the log. */
const setError = (span: Span, error: unknown): void => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  span.setAttribute('error.type', name).setStatus({ code: SpanStatusCode.ERROR, message })
}

const requestAttributes = ({ method, url, protocol, routeOptions, id, headers }: FastifyRequest) => ({
  'http.request.method': method,
  'url.scheme': protocol,
  'url.path': url.split('?', 1)[0],
  ...(routeOptions.url && { 'http.route': routeOptions.url }),
  ...(headers['user-agent'] && { 'user_agent.original': headers['user-agent'] }),
  'forms.request_id': id,
})

const messageAttributes = (subject: string, operation: 'send' | 'process'): Attributes => ({
  'messaging.system': 'nats',
  'messaging.destination.name': subject,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
})

const natsHeaders = {
  keys: (headers: MsgHdrs) => headers.keys(),
  get: (headers: MsgHdrs, key: string) => headers.get(key) || undefined,
  set: (headers: MsgHdrs, key: string, value: string) => headers.set(key, value),
}
