import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { ApiError, invalidRequest, parseJson, parseJsonEnvelope, toFieldViolations } from '@fms/aip'
import type { Identity } from '@fms/contracts'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { beginRequest, endRequest, exposeMetrics } from '../telemetry/metrics.ts'
import { endRequestSpan, traceRequests } from '../telemetry/tracing.ts'
import { clientErrorHandler } from './client-error-handler.ts'
import { limitRequests, releaseRequest, shedLoad } from './concurrency-limit.ts'
import { addDrain, type NewConnections } from './drain.ts'
import { endIdleConnections } from './end-idle-connections.ts'
import { errorHandler, sendError } from './error-handler.ts'
import { overloaded } from './errors.ts'
import { logRequest } from './log-request.ts'
import { rejectSmuggling } from './reject-smuggling.ts'
import { onRequestEnd } from './request-end.ts'
import { rejectUnknownPaths } from './unknown-paths.ts'

/** Bodies over this are refused with 413. */
export const bodyLimitBytes = 1024 * 1024

/** Bodies over this are large: routes that say so parse only the envelope of them. */
export const largeBodyBytes = 64 * 1024

/** Longer than any head that Node lets through, so that a long reference is simply not found. */
const maxParamLength = 256 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling, as the gateway vouches for it. */
    identity: Identity
    /** Objects and arrays in the body's envelope, as JSON texts by name, where only the envelope was parsed. */
    nestedJson: ReadonlyMap<string, string> | undefined
  }
  interface FastifyContextConfig {
    /** Of a large body, only the envelope is parsed: `{}` and `[]` stand for the objects and arrays in it. */
    parsesEnvelopeAlone?: boolean
  }
}

export interface AppOptions {
  logger: FastifyBaseLogger
  /** Heads over this are refused with 431. What the gateway lets through, with what it adds, fits a service. */
  maxHeaderBytes?: number
  /** How long a head may take to arrive, in milliseconds; then 408. A client that dribbles holds nothing up for long. */
  headTimeoutMs?: number
  /** How long a whole request may take to arrive: 1 MiB at 18 KB/s. */
  requestTimeoutMs?: number
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For names the caller; by default none is believed. */
  trustProxy?: string[] | undefined
  /** How many requests may be under way at once, probes aside; others are refused at once. By default any number. */
  maxRequests?: number
  /** Bodies over this are large, for routes that parse the envelope alone. */
  largeBodyBytes?: number
  /** Resolves while the service can do its work; what it throws is the reason why `/readyz` says no. */
  ready?: () => Promise<void>
  /** Adds hooks that run before all others: headers that they set are on every response, on the 503 OVERLOADED, too. */
  addFirstHooks?: (app: FastifyInstance) => void
  /** What becomes of new connections while it drains. */
  newConnections?: NewConnections
}

/**
 * What every service starts with: strict JSON bodies, Zod contracts as route schemas, AIP-193 errors, a request id
 * on every answer and log line, `/healthz`, `/readyz` and `/metrics`.
 */
export const createApp = ({
  logger,
  maxHeaderBytes = 128 * 1024,
  headTimeoutMs = 10_000,
  requestTimeoutMs = 60_000,
  trustProxy,
  maxRequests,
  largeBodyBytes: largeBytes = largeBodyBytes,
  ready,
  addFirstHooks,
  newConnections = 'refuse',
}: AppOptions) => {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestIdOf,
    bodyLimit: bodyLimitBytes,
    trustProxy: trustProxy ?? false,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: Math.min(headTimeoutMs, requestTimeoutMs) / 4,
    },
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength },
    rewriteUrl: ({ url = '/' }) => withLiteralPercents(url),
    forceCloseConnections: 'idle',
    // What still comes on an open connection is answered, too.
    return503OnClosing: false,
    clientErrorHandler: clientErrorHandler,
    schemaController: { compilersFactory: noCompilers },
  }).withTypeProvider<ZodTypeProvider>()

  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const isLarge = request.routeOptions.config.parsesEnvelopeAlone && body.length > largeBytes
      return isLarge ? parseEnvelope(body, request) : parseBody(body)
    },
  )
  app.setValidatorCompiler(({ schema }) => validatorOf(schema as z.ZodType))
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(errorHandler)
  app.decorateRequest('identity')
  app.decorateRequest('nestedJson')

  addFirstHooks?.(app)
  shedLoad(app, overloaded())
  traceRequests(app)
  app.addHook('onRequest', (request, reply, done) => {
    beginRequest()
    reply.header('x-request-id', request.id)
    done()
  })
  onRequestEnd(app, (request, reply, status) => {
    releaseRequest(reply)
    logRequest(request, reply, status)
    endRequest(request, reply, status)
    endRequestSpan(request, status)
  })

  const isDraining = addDrain(app, newConnections)
  endIdleConnections(app)
  rejectSmuggling(app)
  rejectUnknownPaths(app)
  exposeMetrics(app)
  app.get('/healthz', { config: { isUnlogged: true } }, async () => ({ status: 'ok' }))
  let isReady: boolean | undefined
  app.get('/readyz', { config: { isUnlogged: true } }, async (request, reply) => {
    const reason = await Promise.resolve(
      isDraining() ? Promise.reject(new Error('stopping')) : ready?.(),
    ).then(
      () => undefined,
      (error: Error) => error,
    )
    // Probes come every few seconds: what changed is worth a line.
    if (isReady !== !reason) {
      // Nobody has to worry before the first time that it is ready.
      const level = reason && isReady ? 'warn' : 'info'
      logger[level]({ reason: reason?.message }, reason ? 'not ready' : 'ready')
    }
    isReady = !reason
    if (!reason) return { status: 'ready' }
    sendError(notReady(), request, reply)
    return reply
  })
  if (maxRequests !== undefined) limitRequests(app, maxRequests)
  return app
}

export type App = ReturnType<typeof createApp>

const never = (): never => {
  throw new Error('schemas are Zod: the app sets its own compilers')
}

/** In place of Fastify's own, Ajv and fast-json-stringify, which would be loaded and never used. */
const noCompilers = { buildValidator: never, buildSerializer: never }

/** A part that this service cannot work without is away. */
const notReady = () =>
  new ApiError(
    'UNAVAILABLE',
    'NOT_READY',
    'The service is not ready. Wait, and look at its log if it stays so.',
    { retryAfterSeconds: 1 },
  )

const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const id = headers['x-request-id']
  // Node joins two of them with a comma and a space, which no id contains.
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : randomUUID()
}

/** A malformed percent-encoding names nothing that exists: taken literally it is not found, rather than a 400. */
const withLiteralPercents = (url: string): string => {
  if (!url.includes('%')) return url
  const [path = '', ...query] = url.split('?')
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?')
  }
}

const parseBody = (bytes: Buffer): unknown => demandNotNull(parseJson(bytes))

const parseEnvelope = (bytes: Buffer, request: FastifyRequest): unknown => {
  const { body, nested } = parseJsonEnvelope(bytes)
  request.nestedJson = nested
  return demandNotNull(body)
}

/** To validators null means that there is no body. */
const demandNotNull = (body: unknown): unknown => {
  if (body === null) throw invalidRequest([{ field: '', description: 'must be an object' }])
  return body
}

/** Zod's answer as Fastify wants it; all violations in one error. Fastify says null for what is absent. */
const validatorOf = (schema: z.ZodType) => (value: unknown) => {
  const result = schema.safeParse(value ?? undefined)
  return result.success ? { value: result.data } : { error: invalidRequest(toFieldViolations(result.error)) }
}
