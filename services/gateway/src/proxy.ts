import { Readable } from 'node:stream'
import httpProxy from '@fastify/http-proxy'
import { identityHeader } from '@fms/contracts'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Answer } from './gather.ts'
import type { Question, Upstream } from './upstreams.ts'

/** Longer bodies take the proxy's own way. */
const maxShortBodyBytes = 64 * 1024

export interface ProxyOptions {
  to: Upstream
  methods: HTTPMethods[]
  /** Patterns, exactly those. */
  paths: string[]
  /** Another way for what is short, which may take the usual one. */
  ask?: (alone: Ask) => Ask
}

/** Gets the answer to a request whose body is short. */
export type Ask = (request: FastifyRequest) => Promise<Answer>

/** Passes requests on to a service, under the caller's identity and with canonical ids in the path. */
export const proxy: FastifyPluginAsync<ProxyOptions> = async (
  app,
  { to, methods, paths, ask = (alone) => alone },
) => {
  takeBodiesAsTheyAre(app)
  await app.register(httpProxy, {
    upstream: to.origin,
    undici: dispatcherOf(to),
    httpMethods: methods,
    routes: paths,
    proxyPayloads: false,
    disableRequestLogging: true,
    disableCache: true,
    preHandler: passOnIfShort(ask(askOf(to))),
    // The raw path plays no part; its own check of it would answer 400 to references with dots in them.
    preRewrite: () => '/',
    replyOptions: {
      rewriteRequestHeaders: requestHeadersOf,
      rewriteHeaders: responseHeadersOf,
      retryDelay: () => null,
      onError: (reply, { error }) => reply.send(error.cause ?? error),
    },
    handler: (request, reply, _path, options) =>
      reply.from(destinationOf(request), { ...options, body: request.body, contentType: 'application/json' }),
  })
}

/**
 * The same way without its streams, which are half of what it costs: what is short is passed on whole, before the
 * proxy would.
 */
const passOnIfShort = (ask: Ask) => (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
  const body = request.body as Buffer | undefined
  // To HEAD Fastify would tell the length of what it sends, which is nothing.
  if (request.method === 'HEAD' || (body && body.length > maxShortBodyBytes)) return done()
  ask(request).then(
    ({ statusCode, headers, body }) =>
      reply
        .code(statusCode)
        .headers(responseHeadersOf(headers))
        // Of bytes Fastify tells the length, which for a 304 would be that of another body.
        .send(statusCode === 304 ? undefined : body),
    (error) => reply.send(error),
  )
}

const askOf =
  (to: Upstream): Ask =>
  (request) =>
    to.request({
      method: request.method as Question['method'],
      path: destinationOf(request) + queryOf(request.raw.url!),
      headers: requestHeadersOf(request),
      body: request.body as Buffer | undefined,
    })

/** What the router takes for one, with a question mark: behind a `#`, too, which no client sends. */
export const queryOf = (url: string): string => {
  const start = url.search(/[?#]/)
  return start === -1 ? '' : `?${url.slice(start + 1)}`
}

/** The service parses bodies, the gateway bounds their size and asks for their type. */
const takeBodiesAsTheyAre = (app: FastifyInstance) => {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => (body.length === 0 ? undefined : body),
  )
}

/** The upstream with its circuit, in the shape of undici that the proxy calls. */
const dispatcherOf = (to: Upstream) => ({
  request: ((question: Question, answered: (error: unknown, answer?: unknown) => void) => {
    to.request(question).then(
      ({ body, ...head }) =>
        answered(null, { ...head, body: body instanceof Readable ? body : Readable.from([body]) }),
      answered,
    )
  }) as never,
})

/** The route's pattern without its version, filled with what the gateway resolved. */
const destinationOf = ({ routeOptions, params, identity }: FastifyRequest): string => {
  const refs: Record<string, string | undefined> = {
    ...(params as Record<string, string>),
    organizationRef: identity.organizationId,
  }
  const [, , ...segments] = routeOptions.url!.split('/')
  const filled = segments.map((each) => (each[0] === ':' ? harmlessRef(refs[each.slice(1)] ?? '') : each))
  return `/${filled.join('/')}`
}

/**
 * A reference that a URL holds as it is. Neither ids, public ids nor `live` have an underscore or that many
 * characters, so that what could name nothing still names nothing.
 */
export const harmlessRef = (ref: string) => ref.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)

type Passed = Pick<FastifyRequest, 'id' | 'caller' | 'headers' | 'body'>

/** All that a service sees of a request's head: above all not the key, and no identity but ours. */
const requestHeadersOf = ({ id, caller, headers, body }: Passed) => ({
  'x-request-id': id,
  [identityHeader]: caller.token(),
  ...pick(headers, ['if-match', 'if-none-match']),
  ...(body !== undefined && { 'content-type': 'application/json' }),
})

/** All that the caller sees of an answer's head; the rest is between the two connections. */
const responseHeadersOf = (headers: Record<string, string | string[] | undefined>) =>
  pick(headers, ['content-type', 'content-length', 'etag', 'retry-after'])

const pick = <T>(headers: Record<string, T | undefined>, names: string[]): Record<string, T> => {
  const picked: Record<string, T> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
