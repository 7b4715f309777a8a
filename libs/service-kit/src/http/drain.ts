import { once } from 'node:events'
import { Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How often a closing server ends idle connections, in milliseconds. */
const intervalMs = 50

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Lets callers move to another instance without losing requests: `/readyz` becomes 503, and each response ends its
     * connection. Call it before `close`.
     *
     * @param timeoutMs how long idle connections stay open. Longer than callers keep idle connections, so that none is
     *   closed while a caller sends a request on it.
     */
    drain(timeoutMs: number): Promise<void>
    /** Adds a function that is called when the app starts to drain, and again when it closes. For event streams. */
    onDrain(listener: () => void): void
  }
}

/**
 * Whether the app accepts new connections while it drains. `listen` is for a load balancer, which uses the whole time to
 * notice `/readyz`. `refuse` is for callers that try another address themselves; the app then stops draining as soon as
 * its last connection ends.
 */
export type NewConnections = 'listen' | 'refuse'

/** Adds `app.drain`. @returns a function that says whether it has been called. */
export const addDrain = (app: FastifyInstance, newConnections: NewConnections): (() => boolean) => {
  let isDraining = false
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const listener of listeners) listener()
  }

  const drain = async (timeoutMs: number) => {
    isDraining = true
    notify()
    app.server.prependListener('request', (_, response) => {
      response.shouldKeepAlive = false
    })
    if (!app.server.listening || timeoutMs === 0) return
    if (newConnections === 'listen') await delay(timeoutMs)
    else await stopListening(app.server, timeoutMs)
  }

  app.decorate('drain', drain)
  app.decorate('onDrain', (listener: () => void) => void listeners.push(listener))
  app.addHook('preClose', async () => notify())
  return () => isDraining
}

/** Resolves once every connection has ended. */
const stopListening = async (server: FastifyInstance['server'], timeoutMs: number) => {
  const ended = once(server, 'close')
  // The close method of http.Server would end idle connections immediately.
  Server.prototype.close.call(server)
  await Promise.race([ended, delay(timeoutMs, undefined, { ref: false })])
  const timer = setInterval(() => server.closeIdleConnections(), intervalMs)
  await ended
  clearInterval(timer)
}

/**
 * Ends connections that become idle while the app closes. Node ends idle connections only once, at the beginning, and
 * would then wait for the clients of requests that were in flight.
 */
export const endIdleConnections = (app: FastifyInstance): void => {
  app.addHook('preClose', async () => {
    const timer = setInterval(() => app.server.closeIdleConnections(), intervalMs).unref()
    app.server.once('close', () => clearInterval(timer))
  })
}
