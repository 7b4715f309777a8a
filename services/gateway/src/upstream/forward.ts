import { identityHeader } from '@fms/contracts'
import { flowOf, sanitizeRef } from '@fms/service-kit'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
} from 'fastify'
import type { ByteBudget } from '../door/byte-budget.ts'
import type { Door } from '../door/door.ts'
import { isDear } from '../door/is-dear.ts'
import { reserveMemory, sendResponse } from './send-response.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'

export interface ForwardOptions {
  to: Upstream
  door: Door
  methods: HTTPMethods[]
  /** Route patterns; no other path is forwarded. */
  paths: string[]
  memory: ByteBudget
  /** Of the routes. */
  config?: FastifyContextConfig
  /** The largest body, in bytes; by default that of the app. */
  bodyLimit?: number
}

/**
 * Forwards requests to a service when it is their turn, with the caller's identity token and canonical ids in the path.
 * The path is built from the route and its parameters, never from the raw URL.
 */
export const forward: FastifyPluginAsync<ForwardOptions> = async (app, options) => {
  keepRawBodies(app)
  const { methods, paths, config, bodyLimit } = options
  for (const url of paths) {
    app.route({
      // HEAD is explicit: the HEAD route that Fastify adds would set the content-length of its empty body.
      method: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
      url,
      ...(config && { config }),
      ...(bodyLimit !== undefined && { bodyLimit }),
      // Returns undefined: Fastify would await a returned reply.
      handler: (request, reply) => void exchange(request, reply, options),
    })
  }
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

const exchange = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { to, door, memory }: ForwardOptions,
): Promise<void> => {
  const { method, body, identity, permit, routeOptions } = request
  // The service works until it responds, also after the caller has disconnected.
  permit.retain()
  const admission = { flow: flowOf(identity), isDear: isDear(request), caller: reply }
  const send = (isReserved: boolean) => async () => {
    const response = await to.request({
      method: method as UpstreamRequest['method'],
      path: upstreamUrl(request),
      headers: requestHeadersOf(request),
      body: body as Buffer | undefined,
      // Services end a list when its caller disconnects. What cannot be ended keeps its place until it is done.
      ...(routeOptions.config.isList && { caller: reply }),
    })
    return sendResponse(request, reply, response, memory, isReserved)
  }
  try {
    // No response waits for memory: one that finds none is dropped, and its request repeated when there is some. Meanwhile
    // other reads of the user wait as well, or services would work for responses that nobody reads.
    const isShort = method === 'GET' && memory.isAwaitedBy(admission.flow)
    if (isShort || (await door.admit(admission, send(false))) === false) {
      await reserveMemory(request, reply, memory)
      await door.admit(admission, send(true))
    }
  } catch (error) {
    if (!reply.raw.destroyed) reply.send(error)
  } finally {
    permit.release()
  }
}

/** Wildcard for the organization in a route pattern (AIP-159); a hook of the route finds the organization. */
export const anyOrganization = '-'

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

const pick = <T>(headers: Record<string, T | undefined>, names: string[]): Record<string, T> => {
  const picked: Record<string, T> = {}
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
