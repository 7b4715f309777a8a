import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How often a closing server ends idle connections, in milliseconds. */
const intervalMs = 50

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Lets callers move to another instance: `/readyz` becomes 503, and each response ends its connection. Call it
     * before `close`.
     *
     * @param timeoutMs how long idle connections stay open: longer than callers keep them, or a request could be lost.
     */
    drain(timeoutMs: number): Promise<void>
    /**
     * Ends an endless response so that its client resumes at another instance: when a drain starts, at once during one
     * that refuses connections, and at the close.
     *
     * @param raw the response. Its head is written already.
     * @param end called at most once.
     */
    endOnDrain(raw: ServerResponse, end: () => void): void
  }
}

/**
 * Adds `app.drain` and `app.endOnDrain`. @returns a function that says whether the app drains.
 *
 * @param refuses new connections during a drain, which ends with the last one: callers try other addresses themselves. Else
 *   they are accepted: a load balancer takes the whole time to notice `/readyz`.
 */
export const addDrain = (app: FastifyInstance, refuses: boolean): (() => boolean) => {
  let isDraining = false
  /** Whether an endless response ends as soon as it begins. */
  let endsAtOnce = false
  const endless = new Set<() => void>()
  const endAll = () => {
    for (const end of endless) end()
  }

  const drain = async (timeoutMs: number) => {
    isDraining = true
    app.server.prependListener('request', (_, response) => {
      response.shouldKeepAlive = false
    })
    endsAtOnce ||= refuses
    endAll()
    if (!app.server.listening || timeoutMs === 0) return
    if (refuses) await stopListening(app.server, timeoutMs)
    else await delay(timeoutMs)
  }
  const endOnDrain = (raw: ServerResponse, end: () => void) => {
    const endNow = () => {
      endless.delete(endNow)
      const { socket } = raw
      // The head is sent, perhaps with `keep-alive`. Without this, the client would use the connection again.
      if (refuses) raw.once('finish', () => socket?.destroySoon())
      end()
    }
    if (endsAtOnce) return endNow()
    endless.add(endNow)
    raw.once('close', () => endless.delete(endNow))
  }

  app.decorate('drain', drain)
  app.decorate('endOnDrain', endOnDrain)
  app.addHook('preClose', async () => {
    endsAtOnce = true
    endAll()
  })
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
 * Ends connections that become idle while the app closes: Node ends idle ones only once, at the beginning. None ends while a
 * response is being sent: to Node, a connection is idle once the whole response is written.
 */
export const endIdleConnections = (app: FastifyInstance): void => {
  const { server } = app
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const endIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    if (sockets.values().every(({ writableLength }) => writableLength === 0)) endIdle()
  }
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    timer = setInterval(() => server.closeIdleConnections(), intervalMs).unref()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
