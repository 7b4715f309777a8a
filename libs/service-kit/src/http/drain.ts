import { once } from 'node:events'
import { Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How often connections are looked at once patience is over, in milliseconds. */
const intervalMs = 50

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Lets callers move over to another instance, and loses none of their requests: `/readyz` says no, and every
     * answer is its connection's last. To be called before `close`.
     *
     * @param patienceMs how long connections may stay open that bring no request; longer than callers keep idle
     *   ones, so that none is ended here just when it is used.
     */
    drain(patienceMs: number): Promise<void>
  }
}

/**
 * Whether the app still takes new connections while it drains. `listen` is for a balancer, which learns from
 * `/readyz` where to connect to and needs all of the time for it; `refuse` for callers that look for another address
 * themselves, and then the app is done as soon as the last of its connections is.
 */
export type NewConnections = 'listen' | 'refuse'

/** Adds `app.drain`. @returns whether it has been called. */
export const addDrain = (app: FastifyInstance, newConnections: NewConnections): (() => boolean) => {
  let draining = false

  const drain = async (patienceMs: number) => {
    draining = true
    app.server.prependListener('request', (_, response) => {
      response.shouldKeepAlive = false
    })
    if (!app.server.listening || patienceMs === 0) return
    if (newConnections === 'listen') await delay(patienceMs)
    else await stopListening(app.server, patienceMs)
  }

  app.decorate('drain', drain)
  return () => draining
}

/** Resolves once every connection has ended. */
const stopListening = async (server: FastifyInstance['server'], patienceMs: number) => {
  const ended = once(server, 'close')
  // What http.Server adds to it is to end idle connections at once.
  Server.prototype.close.call(server)
  await Promise.race([ended, delay(patienceMs, undefined, { ref: false })])
  const timer = setInterval(() => server.closeIdleConnections(), intervalMs)
  await ended
  clearInterval(timer)
}
