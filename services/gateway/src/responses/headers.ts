import fastifyCors from '@fastify/cors'
import { replayedHeader } from '@fms/contracts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GatewayConfig } from '../config.ts'

const exposedHeaders = [
  'etag',
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  replayedHeader,
]

const allowedHeaders = [
  'content-type',
  'x-api-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'x-request-id',
  'traceparent',
  'tracestate',
]

/** How long a browser may cache the response to a preflight: Chromium's maximum. */
const maxAgeSeconds = 7_200

/** Adds CORS headers (Fetch standard) to every response, errors included. Call it before hooks that reject requests are added. */
export const allowOrigins = (app: FastifyInstance, origins: GatewayConfig['CORS_ORIGINS']): void => {
  if (origins.length === 0) return
  const options = {
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders,
    allowedHeaders,
    maxAge: maxAgeSeconds,
    // `respondToPreflights` sends the response, after the hooks that set the request id and write metrics and log.
    preflightContinue: true,
    // Any other OPTIONS is a 405.
    strictPreflight: false,
  }
  fastifyCors(withoutOptionsRoute(app), options, (error) => {
    if (error) throw error
  })
}

/** Lets pages of every origin read responses that are the same for everybody. Call it after {@link allowOrigins}. */
export const allowEveryOrigin = (app: FastifyInstance, below: string): void => {
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': exposedHeaders.join(', '),
  }
  const preflightHeaders = {
    ...headers,
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': 'if-none-match, x-request-id',
    'access-control-max-age': maxAgeSeconds,
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith(below)) reply.headers(isPreflight(request) ? preflightHeaders : headers)
    done()
  })
}

/** Keeps the plugin from adding its OPTIONS route for every path, which would bypass authentication. */
const withoutOptionsRoute = (app: FastifyInstance): FastifyInstance =>
  Object.create(app, { options: { value: () => app } })

/** Responds to preflights with 204, for any path and origin. Call it before authentication and limits are added. */
export const respondToPreflights = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (isPreflight(request)) reply.code(204).send()
    else done()
  })
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

/** Responses are private, and revalidated before reuse (RFC 9111 §5.2.2). Errors replace this with `no-store`. */
export const keepResponsesPrivate = (app: FastifyInstance): void => {
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('cache-control', 'private, no-cache')
    addVary(reply, 'x-api-key')
    done()
  })
}

/** Adds a request header to `Vary`: the headers that the response depends on (RFC 9110 §12.5.5). */
export const addVary = (reply: FastifyReply, name: string): void => {
  const names = reply.getHeader('vary')
  reply.header('vary', names === undefined ? name : `${names}, ${name}`)
}
