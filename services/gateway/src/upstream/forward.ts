import { Readable } from 'node:stream'
import httpProxy from '@fastify/http-proxy'
import { type Identity, identityHeader } from '@fms/contracts'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type ResponseMemory, sendResponse } from './send-response.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'

export interface ProxyOptions {
  to: Upstream
  methods: HTTPMethods[]
  /** Patterns, exactly those. */
  paths: string[]
  memory: ResponseMemory
}

/** A request with its reply, as a member of the headers that go to the dispatcher. Only text members are sent. */
const exchangeKey = Symbol('exchange')

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** Passes requests on to a service, under the caller's identity and with canonical ids in the path. */
export const proxy: FastifyPluginAsync<ProxyOptions> = async (app, { to, methods, paths, memory }) => {
  keepRawBodies(app)
  await app.register(httpProxy, {
    upstream: to.origin,
    undici: dispatcherOf(to),
    // By name: to the HEAD that Fastify adds, it would tell the length of what it sends, which is nothing.
    httpMethods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
    routes: paths,
    proxyPayloads: false,
    disableRequestLogging: true,
    // The path is the dispatcher's, from the route and its parameters. The raw one plays no part.
    preRewrite: () => '/',
    replyOptions: {
      rewriteHeaders: responseHeadersOf,
      retryDelay: () => null,
      onResponse: (request, reply, { stream }) => {
        if (reply.statusCode >= 400) reply.header('cache-control', 'no-store')
        sendResponse(request as FastifyRequest, reply as FastifyReply, stream as never, memory)
      },
    },
    // Returns nothing: Fastify would watch the reply that it has at hand.
    handler: (request, reply, path, options) => {
      const rewriteRequestHeaders = () => ({
        ...requestHeadersOf(request),
        [exchangeKey]: { request, reply },
      })
      reply.from(path, {
        ...options,
        rewriteRequestHeaders,
        body: request.body,
        contentType: 'application/json',
      })
    },
  })
}

/** The services parse bodies; the gateway bounds their size and checks their type. */
const keepRawBodies = (app: FastifyInstance) => {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => (body.length === 0 ? undefined : body),
  )
}

type ProxiedRequest = Pick<UpstreamRequest, 'method' | 'body'> & { headers: { [exchangeKey]: Exchange } }
type Responded = (error: null, response: object) => void

/** The upstream with its circuit, in the shape of undici that the proxy calls. */
const dispatcherOf = (to: Upstream) => ({
  request: (async ({ method, headers, body }: ProxiedRequest, responded: Responded) => {
    const { request, reply } = headers[exchangeKey]
    // The service has work as long as there is no response, whether its caller waits or not.
    request.permit.retain()
    try {
      const response = await to.request({
        method,
        path: upstreamPath(request) + queryOf(request.raw.url!),
        headers,
        body,
        circuitKey: circuitKeyOf(request.identity),
        // What is written may be done all the same.
        ...(isRead(method) && { caller: reply.raw }),
      })
      if (reply.raw.destroyed) discard(response.body)
      else responded(null, response)
    } catch (error) {
      if (!reply.raw.destroyed) reply.send(error)
    } finally {
      request.permit.release()
    }
  }) as never,
})

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

const discard = (body: Buffer | Readable) => {
  if (body instanceof Readable) body.destroy()
}

/** In place of an organization in the pattern of a route: the one that a hook of the route finds (AIP-159). */
export const anyOrganization = '-'

/** The circuits of a user in two organizations, and of two users in one, have nothing to do with each other. */
export const circuitKeyOf = ({ userId, organizationId = '' }: Identity) => `${userId} ${organizationId}`

/** The query string including `?`. find-my-way also starts it at `#`, which no client sends. */
const queryOf = (url: string): string => {
  const start = url.search(/[?#]/)
  return start === -1 ? '' : `?${url.slice(start + 1)}`
}

/** The route's pattern without its version, filled with what the gateway resolved. */
const upstreamPath = ({ routeOptions, params, identity }: FastifyRequest): string => {
  const refs: Record<string, string | undefined> = {
    ...(params as Record<string, string>),
    organizationRef: identity.organizationId,
  }
  const [, , ...segments] = routeOptions.url!.split('/')
  const filled = segments.map((each) => {
    if (each === anyOrganization) return identity.organizationId
    return each[0] === ':' ? sanitizeRef(refs[each.slice(1)] ?? '') : each
  })
  return `/${filled.join('/')}`
}

/**
 * A reference that a URL holds as it is. Neither ids, public ids nor `live` have an underscore or that many
 * characters, so that what could name nothing still names nothing.
 */
const sanitizeRef = (ref: string) => ref.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)

/** All that a service sees of a request's head: above all not the key, and no identity but ours. */
const requestHeadersOf = ({ id, caller, headers, body }: FastifyRequest) => ({
  'x-request-id': id,
  [identityHeader]: caller.token(),
  ...pick(headers, ['if-match', 'if-none-match']),
  ...(body !== undefined && { 'content-type': 'application/json' }),
})

/** All that the caller sees of a response's head; the rest is between the two connections. */
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
