import type { FastifyInstance, FastifyRequest } from 'fastify'
import { methodNotAllowed, pathNotFound } from './errors.ts'

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
 * Rejects requests that no route matches: with 405 and `Allow` where the path has other methods, else with 404. Register
 * it before the routes. It runs after the hooks of its plugin scope.
 *
 * @param paths the paths of a wider scope, where that has more routes than this one.
 */
export const rejectUnknownPaths = (app: FastifyInstance, paths = collectPaths(app)): void => {
  const reject = (request: FastifyRequest): never => {
    const path = request.originalUrl.split('?', 1)[0]!
    const methods = [...paths.values()].flatMap((each) => (each.pattern.test(path) ? [...each.methods] : []))
    throw methods.length > 0 ? methodNotAllowed(request.method, [...new Set(methods)]) : pathNotFound(path)
  }

  app.setNotFoundHandler(reject)
  // Before the body is read, so that an unknown path is reported before an invalid body.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.is404 || hasEmptySegment(request)) reject(request)
    done()
  })
}

/** Whether the path has a trailing or double slash, which the router takes for an empty parameter. */
const hasEmptySegment = ({ params }: FastifyRequest) => Object.values(params as object).includes('')

/** A wildcard at the end stands for at least one character. */
const patternOf = (url: string) => new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+').replace(/\*$/, '.+')}$`)
