import fastifyCors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The origins whose pages may use the API: exact ones, or `*` for every origin. */
export type CorsOrigins = '*' | readonly string[]

const exposedHeaders = [
  'etag',
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-request-replayed',
]

const allowedHeaders = [
  'content-type',
  'x-api-key',
  'if-match',
  'if-none-match',
  'x-request-id',
  'traceparent',
  'tracestate',
]

/** How long a browser may use the response to a preflight: as long as Chromium does at most. */
const maxAgeSeconds = 7_200

/**
 * Puts the headers of CORS (Fetch standard) on every response, errors included. Nothing to do where there are no
 * origins. To be called before any other hook is added.
 */
export const allowOrigins = (app: FastifyInstance, origins: CorsOrigins): void => {
  if (origins.length === 0) return
  const options = {
    origin: origins === '*' ? origins : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders,
    allowedHeaders,
    maxAge: maxAgeSeconds,
    // Answered by `answerPreflights`, once the request has its id and its place in metrics and log.
    preflightContinue: true,
    // An OPTIONS that is no preflight stays a 405.
    strictPreflight: false,
  }
  fastifyCors(withoutOptionsRoute(app), options, (error) => {
    if (error) throw error
  })
}

/** The plugin also adds a route for OPTIONS of every path, before which no scope's authentication would come. */
const withoutOptionsRoute = (app: FastifyInstance): FastifyInstance =>
  Object.create(app, { options: { value: () => app } })

/** Answers preflights with 204, whatever the path and the origin. To be called before authentication and limits. */
export const answerPreflights = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    if (isPreflight(request)) reply.code(204).send()
    else done()
  })
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined
