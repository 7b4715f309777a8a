import type { Socket } from 'node:net'
import type { Identity } from '@fms/contracts'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyTypeProvider,
  fastify,
  LogController,
} from 'fastify'
import type { z } from 'zod'
import { exposeMetrics } from '../telemetry/metrics.ts'
import { traceRequests } from '../telemetry/tracing.ts'
import { rejectSmuggling, rejectUnknownPaths, toRoutableUrl, toValidator } from './check-requests.ts'
import { clientErrorHandler } from './client-error-handler.ts'
import { addDrain, endIdleConnections } from './drain.ts'
import { errorHandler } from './error-handler.ts'
import { acceptJsonBodies, type ParseShallowly } from './json-body.ts'
import { observeRequests, requestIdOf } from './observe-requests.ts'
import { addProbes } from './probes.ts'

/** The largest body of most routes, in bytes; larger ones are rejected with 413. The event loop parses it in 0.5 ms. */
export const smallBodyBytes = 16 * 1024

/** The largest body of routes that a form is sent to. */
export const formBodyBytes = 1024 * 1024

/** How long a head may take to arrive, in milliseconds, before the request is rejected with 408. */
const headTimeoutMs = 10_000

/** How long a whole request may take to arrive, in milliseconds: 1 MiB at 18 KB/s. */
const requestTimeoutMs = 60_000

/** Longer than any path that Node accepts, so a long reference is a 404 and not another error. */
const maxParamLength = 256 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, as the gateway's identity token names it. */
    identity: Identity
  }
}

/** Types the parts of a request by their schemas. */
interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  serializer: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
}

export interface AppOptions {
  logger: FastifyBaseLogger
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted; none by default. */
  trustProxy?: string[] | undefined
  parseShallowly?: ParseShallowly
  /**
   * The gateway logs each request, and adds `x-request-id` and `nosniff`: services behind it log failures alone at `info`.
   * They accept larger heads, and refuse connections while they drain.
   */
  isBehindGateway?: boolean
  /** Resolves while the service can work; its error is the reason why `/readyz` is 503. */
  ready?: () => Promise<void>
}

/** Creates a service's app: strict JSON, Zod schemas, AIP-193 errors, request ids, probes and `/metrics`. */
export const createApp = (options: AppOptions) => {
  const { isBehindGateway = false } = options
  const app = createServer(options)
  acceptJsonBodies(app, options.parseShallowly)
  app.setValidatorCompiler(({ schema }) => toValidator(schema as z.ZodType))
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(errorHandler)
  app.decorateRequest('identity')

  rejectConnect(app)
  omitLengthOf304(app)
  observeRequests(app, isBehindGateway, traceRequests(app))

  const isDraining = addDrain(app, isBehindGateway)
  endIdleConnections(app)
  rejectSmuggling(app)
  rejectUnknownPaths(app)
  exposeMetrics(app)
  addProbes(app, isDraining, options.ready)
  return app
}

export type App = ReturnType<typeof createApp>

/**
 * Node would close the connection of a CONNECT without a response. It takes its listeners off the socket, so that the response
 * to an earlier request would neither drain nor end with its client: the connection ends with it.
 */
const rejectConnect = ({ server }: FastifyInstance): void => {
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {})
    clientErrorHandler(new Error('CONNECT'), socket as Socket)
    socket.destroy()
  })
}

/** The HEAD routes that Fastify adds set `content-length: 0` in a 304, which may have only that of the 200 (RFC 9110 §8.6). */
const omitLengthOf304 = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') return
    const omitLength = async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (reply.statusCode === 304) reply.removeHeader('content-length')
    }
    route.onSend = [route.onSend ?? [], omitLength].flat()
  })
}

/** Adds routes to an app. Not a plugin of Fastify: its own scope would be slow to create, and these routes need none. */
export type AddRoute<Deps = object> = (app: App, deps: Deps) => void

const createServer = ({ logger, isBehindGateway, trustProxy }: AppOptions) =>
  fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: requestIdOf,
    bodyLimit: smallBodyBytes,
    trustProxy: trustProxy ?? false,
    http: {
      maxHeaderSize: (isBehindGateway ? 128 : 32) * 1024,
      // Two Host headers become one with a comma, which `rejectSmuggling` rejects.
      joinDuplicateHeaders: true,
      // `rejectSmuggling` does, with an error body.
      requireHostHeader: false,
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: headTimeoutMs / 4,
    },
    requestTimeout: requestTimeoutMs,
    routerOptions: { maxParamLength },
    rewriteUrl: toRoutableUrl,
    forceCloseConnections: 'idle',
    // Requests that still arrive on open connections are served.
    return503OnClosing: false,
    clientErrorHandler,
    schemaController: { compilersFactory: noCompilers },
  }).withTypeProvider<ZodTypeProvider>()

const never = (): never => {
  throw new Error('schemas are Zod: the app sets its own compilers')
}

/** Replaces Fastify's compilers, so that Ajv and fast-json-stringify are not loaded. */
const noCompilers = { buildValidator: never, buildSerializer: never }
