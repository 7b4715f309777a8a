import type { FastifyInstance, FastifyRequest } from 'fastify'
import { methodNotAllowed, pathNotFound } from './errors.ts'

/** The methods of each path, in the order in which routes are registered. */
export type KnownPaths = Map<string, { pattern: RegExp; methods: Set<string> }>

/** Learns every route of a plugin scope and of those within it. Call it before they are registered. */
export const collectPaths = (app: FastifyInstance): KnownPaths => {
  const paths: KnownPaths = new Map()
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const each of [method].flat()) known.methods.add(each)
    paths.set(url, known)
  })
  return paths
}

/**
 * Answers what no route matches: 405 with `Allow` where the path is known, 404 elsewhere. Register it before the
 * routes; it speaks for the plugin scope it stands in, behind that scope's hooks.
 *
 * @param paths those of a wider scope, where some routes stand outside of this one.
 */
export const rejectUnknownPaths = (app: FastifyInstance, paths = collectPaths(app)): void => {
  const answer = (request: FastifyRequest): never => {
    const path = request.originalUrl.split('?', 1)[0]!
    const methods = [...paths.values()].flatMap((known) =>
      known.pattern.test(path) ? [...known.methods] : [],
    )
    throw methods.length > 0 ? methodNotAllowed(request.method, [...new Set(methods)]) : pathNotFound(path)
  }

  app.setNotFoundHandler(answer)
  // Before the body is read: whatever is wrong with it, the path comes first.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.is404 || hasEmptyPart(request)) answer(request)
    done()
  })
}

/** A trailing or a double slash: to the router an empty parameter, to us another path. */
const hasEmptyPart = ({ params }: FastifyRequest) => Object.values(params as object).includes('')

const patternOf = (url: string) => new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}$`)
