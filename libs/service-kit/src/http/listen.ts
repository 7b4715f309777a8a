import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type ListenOptions, Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The accept queue of each socket; the system may limit it. With Node's 511, half of a thousand connections would retry. */
const backlog = 4_096

export interface ListenerOptions {
  host: string
  port: number
  /** Whether other processes listen on the port as well (`SO_REUSEPORT`). */
  isShared?: boolean
  /** Sockets that listen, 1 by default, and always where the system is not Linux. */
  sockets?: number
}

/**
 * Listens with several sockets on one port. libuv accepts one connection of each in an iteration of the event loop: with one
 * socket and long iterations, the queue fills up, and new connections wait for minutes.
 */
export const listen = async (
  app: FastifyInstance,
  { host, port, isShared = false, sockets = 1 }: ListenerOptions,
): Promise<void> => {
  // As Node's HTTP server does: with Nagle's algorithm, each part of a response would wait for the client's delayed ACK.
  const create = () => createServer({ noDelay: true })
  const others = process.platform === 'linux' ? Array.from({ length: sockets - 1 }, create) : []
  app.addHook('preClose', async () => {
    const ended = others.map((other) => once(other.close(), 'close'))
    // Else this one would accept connections until those of the others have ended.
    if (others.length > 0) Server.prototype.close.call(app.server)
    await Promise.all(ended)
  })
  if (others.length > 0 && !isShared) await assertFree({ host, port })
  // Fastify passes options that it does not know on to Node.
  const options = { host, port, backlog, reusePort: isShared || others.length > 0 }
  await app.listen(options)
  const bound = app.server.address() as AddressInfo
  for (const other of others) {
    other.on('connection', (socket) => app.server.emit('connection', socket))
    other.listen({ ...options, host: bound.address, port: bound.port })
    await once(other, 'listening')
  }
}

/** Rejects with EADDRINUSE: with `reusePort`, a second system would start, and get a part of the connections of the first. */
const assertFree = async (options: ListenOptions): Promise<void> => {
  const server = createServer()
  await once(server.listen(options), 'listening')
  await once(server.close(), 'close')
}

/** Node stores the response that is being sent on its socket. */
type ServerSocket = Socket & { _httpMessage?: ServerResponse | null }

const isIdle = ({ _httpMessage: response }: ServerSocket): boolean => !response

/**
 * Bounds the connections to all sockets. A further one replaces an idle one, the oldest: an unauthenticated one, over which
 * no request had a valid key, unless these are less than half of all. Without an idle one, it replaces the oldest
 * unauthenticated one.
 */
export const limitConnections = (app: FastifyInstance, max: number): void => {
  /** In the order of their last accepted requests. */
  const [unauthenticated, authenticated] = [new Set<ServerSocket>(), new Set<ServerSocket>()]
  const remove = (socket: ServerSocket) => unauthenticated.delete(socket) || authenticated.delete(socket)
  app.server.on('connection', (socket: ServerSocket) => {
    if (unauthenticated.size + authenticated.size >= max) {
      const idle = unauthenticated.size < max / 2 ? authenticated.values().find(isIdle) : undefined
      const replaced = idle ?? unauthenticated.values().find(isIdle) ?? unauthenticated.values().next().value
      // All others are at work for authenticated callers.
      if (!replaced) return void socket.destroy()
      remove(replaced)
      replaced.destroy()
    }
    unauthenticated.add(socket)
    socket.once('close', () => remove(socket))
  })
  app.addHook('preParsing', ({ identity, raw: { socket } }, _reply, _payload, done) => {
    if (authenticated.delete(socket)) authenticated.add(socket)
    else if (unauthenticated.delete(socket)) (identity ? authenticated : unauthenticated).add(socket)
    done()
  })
}

/** Requests of one connection that may wait for the response to an earlier one (RFC 9112 §9.3.2). */
const maxPipelined = 16

const waiting = new WeakMap<Socket, number>()

/** How many requests of a connection wait, where {@link limitPipelining} counts them. */
export const pipelinedRequests = (socket: Socket): number => waiting.get(socket) ?? 0

/** Closes a connection that pipelines more: Node handles all that one has sent before it turns to the others. */
export const limitPipelining = (app: FastifyInstance): void => {
  const add = (socket: Socket, difference: number) => {
    const count = pipelinedRequests(socket) + difference
    waiting.set(socket, count)
    return count
  }
  // Taken from the server, since one listener cannot keep a request from the others.
  const handlers = app.server.listeners('request')
  app.server.removeAllListeners('request')
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    // A response has its socket once it is its turn.
    if (response.socket === null) {
      if (add(socket, 1) > maxPipelined) return void socket.destroy()
      response.once('socket', () => add(socket, -1))
      response.once('close', () => {
        // Destroyed without a socket, it would never end, nor would the connection.
        if (!response.writableFinished) socket.destroy()
      })
    }
    for (const handle of handlers) handle.call(app.server, request, response)
  })
}
