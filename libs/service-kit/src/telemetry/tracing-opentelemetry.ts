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
  trace,
} from '@opentelemetry/api'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { JsMsg, MsgHdrs } from 'nats'
import { clientClosedRequest } from '../http/request-end.ts'
import { isUnlogged } from '../http/unlogged-routes.ts'

/** Between two log lines about a collector that is away, in milliseconds. */
const complainEveryMs = 60_000

/** The OpenTelemetry SDK behind what tracing.ts offers. Loaded only where somebody wants traces. */
export interface Tracing {
  traceRequests(app: FastifyInstance): void
  endRequest(request: FastifyRequest, status: number): void
  sending<T>(subject: string, headers: MsgHdrs, send: () => Promise<T>): Promise<T>
  delivery<T>(message: JsMsg, consumer: string, handle: () => Promise<T>): Promise<T>
  storeCall<T>(store: string, engine: string, operation: string, call: () => T): T
  fields(): { trace_id?: string; span_id?: string }
  stop(): Promise<void>
}

/** Names of spans and attributes are those of OpenTelemetry's semantic conventions for HTTP, messaging and databases. */
export const createTracing = (service: string, logger: FastifyBaseLogger): Tracing => {
  // Metrics are Prometheus's to fetch, log lines go to stdout.
  process.env.OTEL_METRICS_EXPORTER ??= 'none'
  process.env.OTEL_LOGS_EXPORTER ??= 'none'
  complainSeldom(logger)
  const sdk = new NodeSDK({
    serviceName: process.env.OTEL_SERVICE_NAME || service,
    instrumentations: [new UndiciInstrumentation({ requireParentforSpans: true })],
  })
  sdk.start()
  const tracer = trace.getTracer('form-management')
  const requests = new WeakMap<FastifyRequest, Context>()

  const within = async <T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> => {
    try {
      return await context.with(trace.setSpan(parent, span), work)
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  return {
    traceRequests(app) {
      app.addHook('onRequest', (request, reply, done) => {
        if (isUnlogged(request)) return done()
        const parent = propagation.extract(ROOT_CONTEXT, request.headers)
        const { url: route } = request.routeOptions
        const name = route ? `${request.method} ${route}` : request.method
        const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: ofHead(request) }, parent)
        const inSpan = trace.setSpan(parent, span)
        requests.set(request, inSpan)
        request.log = request.log.child(fieldsOf(span))
        reply.log = request.log
        context.with(inSpan, done)
      })
      // Reading the body leads out of the context.
      app.addHook('preValidation', (request, _reply, done) => {
        context.with(requests.get(request) ?? ROOT_CONTEXT, done)
      })
    },

    endRequest(request, status) {
      const span = trace.getSpan(requests.get(request) ?? ROOT_CONTEXT)
      if (!span) return
      const { userId, organizationId } = request.identity ?? {}
      if (userId) span.setAttribute('user.id', userId)
      if (organizationId) span.setAttribute('forms.organization', organizationId)
      if (status === clientClosedRequest) span.setAttribute('error.type', 'caller_gone')
      else span.setAttribute('http.response.status_code', status)
      if (status >= 500)
        span.setAttribute('error.type', `${status}`).setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },

    sending(subject, headers, send) {
      const known = propagation.extract(ROOT_CONTEXT, headers, natsHeaders)
      const parent = trace.getSpan(known) ? known : context.active()
      const attributes = ofMessage(subject, 'send')
      const span = tracer.startSpan(`send ${subject}`, { kind: SpanKind.PRODUCER, attributes }, parent)
      propagation.inject(trace.setSpan(parent, span), headers, natsHeaders)
      return within(span, parent, send)
    },

    delivery(message, consumer, handle) {
      const { subject, headers, data, info } = message
      const parent = headers ? propagation.extract(ROOT_CONTEXT, headers, natsHeaders) : ROOT_CONTEXT
      const attributes = {
        ...ofMessage(subject, 'process'),
        'messaging.consumer.group.name': consumer,
        'messaging.message.body.size': data.length,
        'messaging.nats.delivery_count': info.deliveryCount,
      }
      const span = tracer.startSpan(`process ${subject}`, { kind: SpanKind.CONSUMER, attributes }, parent)
      return within(span, parent, handle)
    },

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
          fail(span, error)
          span.end()
        },
      )
      return result
    },

    fields: () => {
      const span = trace.getActiveSpan()
      return span ? fieldsOf(span) : {}
    },

    async stop() {
      await sdk.shutdown()
      for (const api of [trace, context, propagation, diag]) api.disable()
    },
  }
}

const fieldsOf = (span: Span) => {
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}

const ofHead = ({ method, url, protocol, routeOptions, id, headers }: FastifyRequest): Attributes => ({
  'http.request.method': method,
  'url.scheme': protocol,
  'url.path': url.split('?', 1)[0],
  ...(routeOptions.url && { 'http.route': routeOptions.url }),
  ...(headers['user-agent'] && { 'user_agent.original': headers['user-agent'] }),
  'forms.request_id': id,
})

const ofMessage = (subject: string, operation: 'send' | 'process'): Attributes => ({
  'messaging.system': 'nats',
  'messaging.destination.name': subject,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
})

/** Messages tell what the caller sees anyway; causes and stacks are for the log. */
const fail = (span: Span, error: unknown): void => {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  span.setAttribute('error.type', name).setStatus({ code: SpanStatusCode.ERROR, message })
}

const natsHeaders = {
  keys: (headers: MsgHdrs) => headers.keys(),
  get: (headers: MsgHdrs, key: string) => headers.get(key) || undefined,
  set: (headers: MsgHdrs, key: string, value: string) => headers.set(key, value),
}

/** The SDK tells of each batch that it cannot deliver, every few seconds. */
const complainSeldom = (logger: FastifyBaseLogger): void => {
  let saidAt = Number.NEGATIVE_INFINITY
  const complain = (message: string, ...details: unknown[]) => {
    const now = performance.now()
    if (now - saidAt < complainEveryMs) return
    saidAt = now
    logger.warn({ reason: [message, ...details].join(' ').slice(0, 1_000) }, 'spans cannot be delivered')
  }
  const quiet = () => {}
  diag.setLogger(
    { error: complain, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.ERROR,
  )
}
