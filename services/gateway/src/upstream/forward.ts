import { Readable } from 'node:stream'
import httpProxy from '@fastify/http-proxy'
import { type Identity, identityHeader, replayedHeader } from '@fms/contracts'
import { sanitizeRef } from '@fms/service-kit'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
} from 'fastify'
import { type ResponseMemory, sendResponse } from './send-response.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'

export interface ForwardOptions {
  to: Upstream
  methods: HTTPMethods[]
  /** Route patterns; no other path is forwarded. */
  paths: string[]
  memory: ResponseMemory
  /** Of the routes. */
  config?: FastifyContextConfig
}

/** Key of the exchange among the headers that the proxy hands to the dispatcher. Symbol keys are not sent. */
const exchangeKey = Symbol('exchange')

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** Forwards requests to a service, with the caller's identity token and canonical ids in the path. */
export const forward: FastifyPluginAsync<ForwardOptions> = async (
  app,
  { to, methods, paths, memory, config },
) => {
  keepRawBodies(app)
  await app.register(httpProxy, {
    upstream: to.origin,
    undici: dispatcherOf(to),
    // HEAD is explicit: the HEAD route that Fastify adds would set the content-length of its empty body.
    httpMethods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
    routes: paths,
    ...(config && { config }),
    proxyPayloads: false,
    disableRequestLogging: true,
    // The dispatcher builds the path from the route and its parameters, never from the raw URL.
    preRewrite: () => '/',
    replyOptions: {
      rewriteHeaders: responseHeadersOf,
      retryDelay: () => null,
      onResponse: (request, reply, { stream }) => {
        if (reply.statusCode >= 400) reply.header('cache-control', 'no-store')
        sendResponse(request as FastifyRequest, reply as FastifyReply, stream as never, memory)
      },
    },
    // Returns undefined: Fastify would await a returned reply.
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

/** Leaves bodies unparsed: services parse them, the gateway only bounds their size and checks their type. */
const keepRawBodies = (app: FastifyInstance) => {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_: FastifyRequest, body: Buffer) => (body.length === 0 ? undefined : body),
  )
}

type ForwardedRequest = Pick<UpstreamRequest, 'method' | 'body'> & { headers: { [exchangeKey]: Exchange } }
type ResponseCallback = (error: null, response: object) => void

/** An adapter with the undici method that the proxy calls. It sends requests through the upstream's circuit. */
const dispatcherOf = (to: Upstream) => ({
  request: (async ({ method, headers, body }: ForwardedRequest, done: ResponseCallback) => {
    const { request, reply } = headers[exchangeKey]
    // The service works until it responds, also after the caller has disconnected.
    request.permit.retain()
    try {
      const response = await to.request({
        method,
        path: upstreamUrl(request),
        headers,
        body,
        circuitKey: circuitKeyOf(request.identity),
        // Reads are aborted when the caller disconnects; a write may already be done.
        ...(isRead(method) && { caller: reply.raw }),
      })
      if (reply.raw.destroyed) discard(response.body)
      else done(null, response)
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

/** Wildcard for the organization in a route pattern (AIP-159); a hook of the route finds the organization. */
export const anyOrganization = '-'

/** A circuit for each user and organization: failures of one pair open no circuit of another. */
export const circuitKeyOf = ({ userId, organizationId = '' }: Identity) => `${userId} ${organizationId}`

/** Path and query of a request, for the service. */
export const upstreamUrl = (request: FastifyRequest): string =>
  upstreamPath(request) + queryOf(request.raw.url!)

/** The query string including `?`. find-my-way also starts it at `#`, which no client sends. */
const queryOf = (url: string): string => {
  const start = url.search(/[?#]/)
  return start === -1 ? '' : `?${url.slice(start + 1)}`
}

/** The route pattern without `/v2`, filled with the resolved organization id and the sanitized references. */
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

/** The complete list of forwarded request headers: neither the API key nor an identity header of the client. */
export const requestHeadersOf = ({ id, caller, headers, body }: FastifyRequest) => ({
  'x-request-id': id,
  [identityHeader]: caller.token(),
  ...pick(headers, ['if-match', 'if-none-match']),
  ...(body !== undefined && { 'content-type': 'application/json' }),
})

/** The complete list of forwarded response headers. Responses without `cache-control` get that of the gateway. */
const responseHeadersOf = (headers: Record<string, string | string[] | undefined>) =>
  pick(headers, [
    'cache-control',
    'content-type',
    'content-length',
    'etag',
    'retry-after',
    'www-authenticate',
    replayedHeader,
  ])

const pick = <T>(headers: Record<string, T | undefined>, names: string[]): Record<string, T> => {
  const picked: Record<string, T> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
