import { AsyncLocalStorage } from 'node:async_hooks'
import httpProxy from '@fastify/http-proxy'
import { expensiveHeader, identityHeader, type Operation, replayedHeader } from '@fms/contracts'
import type { Flow } from '@fms/scheduling'
import { flowOf, formBodyBytes, overloaded, toPathSegment } from '@fms/service-kit'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { isExpensive, rememberCost } from '../admission/admission-queue.ts'
import type { MemoryBudget } from '../admission/memory-budget.ts'
import { reauthorize } from '../caller/authenticate.ts'
import { maxBufferedBytes } from '../config.ts'
import type { GatewayDeps } from '../deps.ts'
import { StreamedBody, type UpstreamRequest, type UpstreamResponse } from './upstream.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a forwarded request does. */
    operation?: Operation
  }
}

export interface ForwardedOperation extends Operation {
  service: 'organizations' | 'forms'
}

export interface ForwardOptions {
  deps: GatewayDeps
  /** Route patterns, and their operations: of one service, with one method. No other path is forwarded. */
  routes: readonly [ForwardedRoute, ...ForwardedRoute[]]
}

type ForwardedRoute = readonly [string, ForwardedOperation]

interface RequestContext {
  request: FastifyRequest
  reply: FastifyReply
}

/** What the proxy forwards: it hands its dispatcher neither of the two. */
const requestContext = new AsyncLocalStorage<RequestContext | undefined>()

/** Forwards requests to a service when it is their turn, with the caller's identity token and canonical ids in the path. */
export const forward: FastifyPluginAsync<ForwardOptions> = async (app, { deps, routes }) => {
  const [[, { service, method }]] = routes
  const operations = new Map(routes)
  keepRawBodies(app)
  app.addHook('onRoute', (route) => {
    const operation = operations.get(route.routePath)!
    route.config = { operation, isRead: operation.access === 'reader' }
    if (operation.sendsForm) route.bodyLimit = formBodyBytes
  })
  await app.register(httpProxy, {
    upstream: deps[service].origin,
    undici: dispatcherOf(deps, service),
    // HEAD is explicit: the HEAD route that Fastify adds would set the content-length of its empty body.
    httpMethods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    routes: [...operations.keys()],
    proxyPayloads: false,
    disableRequestLogging: true,
    // The dispatcher builds the path from the route and its parameters, never from the raw URL.
    preRewrite: () => '/',
    replyOptions: {
      rewriteRequestHeaders: (request) => requestHeadersOf(request as FastifyRequest),
      rewriteHeaders: responseHeadersOf,
      retryDelay: () => null,
      onResponse: (_request, reply, { stream }) => sendResponse(reply as FastifyReply, stream as never),
    },
    // Returns undefined: Fastify would await a returned reply.
    handler: (request, reply, path, options) =>
      requestContext.run({ request, reply }, () => {
        reply.from(path, { ...options, body: request.body, contentType: 'application/json' })
      }),
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

type ForwardedRequest = Pick<UpstreamRequest, 'method' | 'headers' | 'body'>
type ResponseCallback = (error: null, response: UpstreamResponse) => void

/**
 * The dispatcher of the proxy. Its responses have bytes where those of undici have streams: see docs/decisions/0007.
 */
const dispatcherOf = (deps: GatewayDeps, service: ForwardedOperation['service']) => ({
  request: ((request: ForwardedRequest, done: ResponseCallback) => {
    const context = requestContext.getStore()!
    // A connection that is opened meanwhile would keep the context for as long as it is open.
    requestContext.run(undefined, () => sendWhenAdmitted(context, request, done, deps, service))
  }) as never,
})

/** Sends a request when it is its turn. Errors are sent to the caller here: the proxy would log each of them. */
const sendWhenAdmitted = async (
  { request, reply }: RequestContext,
  { method, headers, body }: ForwardedRequest,
  done: ResponseCallback,
  deps: GatewayDeps,
  service: ForwardedOperation['service'],
) => {
  const { queues, responseBudget, authorize } = deps
  const [to, queue] = [deps[service], queues[service]]
  const { identity, permit, routeOptions } = request
  const admission = {
    flow: flowOf(identity),
    isExpensive: () => isExpensive(request),
    reply,
    reauthorize: () => reauthorize(request, authorize),
  }
  const send = (isReserved: boolean) => async () => {
    const response = await to.request({
      method,
      path: upstreamUrl(request),
      headers,
      body,
      // Services end a list when its caller disconnects. What cannot be ended keeps its seat until it is done.
      reply: routeOptions.config.operation!.cost === 'list' ? reply : undefined,
    })
    const wasExpensive = response.body instanceof StreamedBody || expensiveHeader in response.headers
    if (wasExpensive || response.statusCode === 200) rememberCost(request, wasExpensive)
    // Writes cannot be repeated. They have the size of a form, and are sent in any case.
    const canSend =
      isReserved || tryReserveMemory(admission.flow, reply, response, responseBudget) || method !== 'GET'
    if (!canSend || reply.raw.destroyed) discard(response.body)
    else done(null, response)
    if (response.body instanceof StreamedBody) await response.body.received
    return canSend
  }
  const work = async () => {
    // A response never waits for memory: without any it is dropped, and its GET sent again when memory is reserved. While one
    // GET of a user waits for memory, so do the user's others, or services would work for responses that nobody reads.
    const mustReserve = method === 'GET' && responseBudget.hasWaiting(admission.flow)
    if (mustReserve || (await queue.admit(admission, send(false))) === false) {
      await reserveMemory(request, reply, responseBudget)
      await queue.admit(admission, send(true))
    }
  }
  await permit.holdDuring(work).catch((error) => void reply.send(error))
}

export const discard = (body: Buffer | StreamedBody) => {
  if (body instanceof StreamedBody) body.destroy()
}

/** Reserves memory before a service works on a read. @throws {ApiError} OVERLOADED when there is none in time. */
const reserveMemory = async (
  { identity }: FastifyRequest,
  reply: FastifyReply,
  responseBudget: MemoryBudget,
): Promise<void> => {
  const release = await responseBudget.reserve(
    flowOf(identity),
    maxBufferedBytes,
    () => reply.raw.destroy(),
    reply,
  )
  if (!release) throw overloaded()
  // The caller may have gone at the same moment, with the connection whose end frees the memory.
  if (reply.hasEnded) release()
  else reply.raw.once('close', release)
}

/** Reserves memory for a long response until its last byte is read. False if there is none. */
export const tryReserveMemory = (
  flow: Flow,
  { raw }: FastifyReply,
  { headers, body }: UpstreamResponse,
  budget: MemoryBudget,
): boolean => {
  if (!(body instanceof StreamedBody) || raw.destroyed) return true
  const bytes = Math.min(Number(headers['content-length'] ?? maxBufferedBytes), maxBufferedBytes)
  const release = budget.tryReserve(flow, bytes, () => raw.destroy())
  if (release) raw.once('close', release)
  return release !== undefined
}

/** Sends the body of a service's response; the reply already has its head. */
export const sendResponse = (reply: FastifyReply, body: Buffer | StreamedBody): FastifyReply => {
  if (reply.statusCode >= 400) reply.header('cache-control', 'no-store')
  // For an empty buffer Fastify sets content-length 0, which is wrong for HEAD and 304.
  return reply.send(body instanceof StreamedBody || body.length > 0 ? body : undefined)
}

/** Wildcard for the organization in a route pattern (AIP-159); a hook of the route finds the organization. */
export const anyOrganization = '-'

export const upstreamUrl = (request: FastifyRequest): string =>
  upstreamPath(request) + queryOf(request.raw.url!)

/** The query string including `?`. find-my-way also starts it at `#`, which no client sends. */
const queryOf = (url: string): string => {
  const start = url.search(/[?#]/)
  return start === -1 ? '' : `?${url.slice(start + 1)}`
}

/** The route pattern without `/v2`, filled with the resolved organization id and the sanitized references. */
const upstreamPath = ({ routeOptions, params, identity }: FastifyRequest): string => {
  const refs = params as Record<string, string | undefined>
  let path = ''
  for (const segment of routeOptions.url!.split('/').slice(2)) {
    if (segment === anyOrganization || segment === ':organizationRef') path += `/${identity.organizationId}`
    else path += segment[0] === ':' ? `/${toPathSegment(refs[segment.slice(1)] ?? '')}` : `/${segment}`
  }
  return path
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

export const pick = <T>(headers: Record<string, T | undefined>, names: string[]): Record<string, T> => {
  const picked: Record<string, T> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
