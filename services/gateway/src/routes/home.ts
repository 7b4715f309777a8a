import type { FastifyPluginAsync } from 'fastify'

/** `GET /` leads to the reference page, whatever its query. Relative, for proxies that add a prefix. */
export const home: FastifyPluginAsync = async (app) => {
  app.get('/', async (_, reply) => reply.redirect('v2/docs', 302))
}
