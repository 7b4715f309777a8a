import { pathNotFound } from '@fms/service-kit'
import type { FastifyPluginAsync } from 'fastify'

/** Redirects `GET /` to the reference page and ignores the query. Relative, for proxies that add a prefix. */
export const home: FastifyPluginAsync = async (app) => {
  app.get('/', async ({ originalUrl }, reply) => {
    // The router matches the request target `*` (RFC 9112 §3.2.4) with `/`.
    if (originalUrl.startsWith('*')) throw pathNotFound(originalUrl)
    return reply.redirect('v2/docs', 302)
  })
}
