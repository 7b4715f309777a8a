import { pathNotFound } from '@fms/service-kit'
import type { FastifyPluginAsync } from 'fastify'
import { isConsoleBuilt } from '../console/console-files.ts'

/** Redirects `GET /` to the console if it is built, else to the reference page. Relative, for proxies that add a prefix. */
export const home: FastifyPluginAsync<{ consoleFolder: string }> = async (app, { consoleFolder }) => {
  app.get('/', async ({ originalUrl }, reply) => {
    // The router matches the request target `*` (RFC 9112 §3.2.4) with `/`.
    if (originalUrl.startsWith('*')) throw pathNotFound(originalUrl)
    return reply.redirect((await isConsoleBuilt(consoleFolder)) ? 'v2/console' : 'v2/docs', 302)
  })
}
