import type { IncomingMessage } from 'node:http'
import { didYouMean, invalidRequest, toFieldViolations } from '@fms/aip'
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify'
import type { z } from 'zod'
import { malformedRequest, methodNotAllowed, pathNotFound, unsupportedMediaType } from './errors.ts'

/** The methods of each path, in the order in which routes are registered. */
export type KnownPaths = Map<string, { pattern: RegExp; methods: Set<string> }>

/** Collects the routes of a plugin scope and of its inner scopes. Call it before they are registered. */
export const collectPaths = (app: FastifyInstance): KnownPaths => {
  const paths: KnownPaths = new Map()
  app.addHook('onRoute', ({ url, method }) => {
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const each of [method].flat()) path.methods.add(each)
    paths.set(url, path)
  })
  return paths
}

/**
 * Rejects requests that no route matches: 405 with `Allow` where the path has other methods, else 404. Register it
 * before the routes; it runs after the hooks of its scope.
 *
 * @param paths of a wider scope, where that has more routes.
 */
export const rejectUnknownPaths = (app: FastifyInstance, paths = collectPaths(app)): void => {
  const reject = (request: FastifyRequest): never => {
    const path = request.originalUrl.split('?', 1)[0]!
    // As the router reads it.
    const decoded = decodeURI(request.url.split('?', 1)[0]!)
    const methods = [...paths.values()].flatMap((each) =>
      each.pattern.test(decoded) ? [...each.methods] : [],
    )
    // In the place of an id, no slash is too many: the id is missing.
    const lacksId = hasEmptySegment(request) && /\/\/+[^/]/.test(path)
    if (methods.length === 0) throw pathNotFound(path, lacksId ? undefined : similarPath(path, paths.keys()))
    const withMethod = [...paths].flatMap(([url, each]) => (each.methods.has(request.method) ? [url] : []))
    throw methodNotAllowed(request.method, [...new Set(methods)], similarPath(path, withMethod))
  }

  app.setNotFoundHandler(reject)
  // Before the body is read, so that an unknown path is reported before an invalid body.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.is404 || hasEmptySegment(request)) reject(request)
    done()
  })
}

/** The path without empty segments, its one misspelt segment as a route has it; undefined if there is no such route. */
const similarPath = (path: string, routes: Iterable<string>): string | undefined => {
  const segments = path.split('/').filter((segment, at) => segment !== '' || at === 0)
  for (const route of routes) {
    const pattern = route.split('/')
    if (pattern.length !== segments.length) continue
    const [index, ...others] = pattern.flatMap((part, at) =>
      part[0] === ':' || part === segments[at] ? [] : [at],
    )
    if (others.length > 0) continue
    if (index === undefined) return segments.join('/')
    const meant = didYouMean(segments[index]!, [pattern[index]!])
    if (meant !== undefined) return segments.with(index, meant).join('/')
  }
  return undefined
}

/** Whether the path has a trailing or double slash, which the router takes for an empty parameter. */
const hasEmptySegment = ({ params }: FastifyRequest) => Object.values(params as object).includes('')

/** A wildcard at the end stands for at least one character. */
const patternOf = (url: string) => new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+').replace(/\*$/, '.+')}$`)

/**
 * The URL as the router accepts it: a URL (with a host, without a fragment) loses its origin, a path with a malformed
 * percent-encoding has `_` for each `%`, as references have, and what is no path then becomes one: a 404 with the usual body.
 * Fastify's own response to them has no hooks.
 */
export const toRoutableUrl = ({ url = '/' }: IncomingMessage): string => {
  const isUrl = /^https?:\/\/[^/?#]+[^#]*$/i.test(url) && URL.canParse(url)
  const path = withoutMalformedPercents(isUrl ? url.replace(/^https?:\/\/[^/?#]+/i, '') : url)
  return path.startsWith('/') ? path : `/${path}`
}

/** As `%25`, which would be exact, the `%` of a path of 32 KiB would cost the router 5 ms. */
const withoutMalformedPercents = (url: string): string => {
  if (!url.includes('%')) return url
  const [path = '', ...query] = url.split('?')
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return [path.replaceAll('%', '_'), ...query].join('?')
  }
}

/**
 * A reference as services read it: at most 100 characters that a path segment holds unescaped, which bounds what errors
 * repeat. A reference that this changes matches nothing: no UUID, public id or alias has `_` or 100 characters.
 */
export const toPathSegment = (ref: string): string => ref.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)

/**
 * Rejects what proxies may read differently than Node (request smuggling, RFC 9112 §11.2): no Host header or two, a version
 * other than 1.x, and content codings, which services do not decode.
 */
export const rejectSmuggling = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor !== 1)
      throw malformedRequest(new Error(`HTTP/${raw.httpVersion} in a request line`))
    if (raw.headers.host === undefined && raw.httpVersionMinor > 0)
      throw malformedRequest(new Error('no Host header'))
    if (raw.headers.host?.includes(',')) throw malformedRequest(new Error('more than one Host header'))
    done()
  })
  // Node would respond with 417 and no body. Servers may ignore unknown expectations (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // A hook of the route runs after those of its scopes, which check the path and the length of the body.
  app.addHook('onRoute', (route) => {
    route.preParsing = [route.preParsing ?? [], rejectCodings].flat()
  })
}

const rejectCodings: preParsingHookHandler = ({ headers, method }, _reply, _payload, done) => {
  if (method === 'GET' || method === 'HEAD') return done()
  const { 'content-length': length = '0', 'transfer-encoding': transferCoding = 'chunked' } = headers
  const coding = headers['content-encoding'] || 'identity'
  const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined
  if (hasBody && coding.toLowerCase() !== 'identity')
    throw unsupportedMediaType(headers['content-type'], coding)
  if (transferCoding.toLowerCase() !== 'chunked')
    throw unsupportedMediaType(headers['content-type'], transferCoding)
  done()
}

/** A Fastify validator that reports all violations in one error. Fastify passes null for an absent part. */
export const toValidator = (schema: z.ZodType) => (value: unknown) => {
  const result = schema.safeParse(value ?? undefined)
  return result.success ? { value: result.data } : { error: invalidRequest(toFieldViolations(result.error)) }
}
