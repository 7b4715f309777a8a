import { pathNotFound } from '@fms/service-kit'
import type { FastifyPluginAsync } from 'fastify'

/** `GET /` leads to the reference page, whatever its query. Relative, for proxies that add a prefix. */
export const home: FastifyPluginAsync = async (app) => {
  app.get('/', async ({ originalUrl }, reply) => {
    // The router takes the target `*` (RFC 9112 §3.2.4) for a path of its length.
    if (originalUrl.startsWith('*')) throw pathNotFound(originalUrl)
    return reply.redirect('v2/docs', 302)
  })
}
