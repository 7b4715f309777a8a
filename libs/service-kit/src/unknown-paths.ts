import type { FastifyInstance, FastifyRequest } from 'fastify'
import { methodNotAllowed, pathNotFound } from './errors.ts'

/**
 * Answers what no route matches: 405 with `Allow` where the path is known, 404 elsewhere. Register it before the
 * routes; it speaks for the plugin scope it stands in, behind that scope's hooks.
 */
export const answerUnknownPaths = (app: FastifyInstance): void => {
  const methodsByPattern = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  app.addHook('onRoute', ({ url, method }) => {
    const known = methodsByPattern.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const each of [method].flat()) known.methods.add(each)
    methodsByPattern.set(url, known)
  })

  const answer = (request: FastifyRequest): never => {
    const path = request.originalUrl.split('?', 1)[0]!
    const methods = [...methodsByPattern.values()].flatMap((known) =>
      known.pattern.test(path) ? [...known.methods] : [],
    )
    throw methods.length > 0 ? methodNotAllowed(request.method, [...new Set(methods)]) : pathNotFound(path)
  }

  app.setNotFoundHandler(answer)
  // Before the body is read: whatever is wrong with it, the path comes first.
  app.addHook('preParsing', async (request) => {
    if (request.is404 || hasEmptyPart(request)) answer(request)
  })
}

/** A trailing or a double slash: to the router an empty parameter, to us another path. */
const hasEmptyPart = ({ params }: FastifyRequest) => Object.values(params as object).includes('')

const patternOf = (url: string) => new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+')}$`)
