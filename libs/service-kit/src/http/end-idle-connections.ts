import type { FastifyInstance } from 'fastify'

/** How often connections are looked at while the app closes, in milliseconds. */
const intervalMs = 50

/**
 * Ends connections that fall idle while the app closes, too: Node looks once, at the beginning, and would then wait
 * for the clients of the requests that were still under way.
 */
export const endIdleConnections = (app: FastifyInstance): void => {
  app.addHook('preClose', async () => {
    const timer = setInterval(() => app.server.closeIdleConnections(), intervalMs).unref()
    app.server.once('close', () => clearInterval(timer))
  })
}
