import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, pipelinedRequests } from '@fms/service-kit'
import type { FastifyInstance } from 'fastify'

const cutOffs = new Counter({
  name: 'responses_cut_off_total',
  help: 'Responses that were cut off: stalled, no byte read for 10 s, or slow, below 16 KiB/s over 30 s',
  labelNames: ['reason'],
})
for (const reason of ['stalled', 'slow']) cutOffs.inc({ reason }, 0)

const defaultLimits = {
  /** How long a caller may read no byte of a response. */
  stalledMs: 10_000,
  /** A window in which a caller has to read `minBytes`. */
  windowMs: 30_000,
  minBytes: 30 * 16 * 1024,
  /** How often connections are checked. */
  intervalMs: 1_000,
}

/** A connection. Only the handle counts the part of a chunk that is sent. */
type ClientSocket = Socket & {
  /** The response that is being sent; those of pipelined requests wait for it. */
  _httpMessage?: ServerResponse | null
  _handle?: { bytesWritten: number; writeQueueSize: number } | null
}

interface Window {
  endsAt: number
  /** Bytes that the socket had sent when the window began. */
  startBytes: number
}

/** Whether the caller has to read: bytes of a response wait for it, or other responses wait for the one that it reads. */
const isAwaited = (socket: ClientSocket): boolean =>
  socket._httpMessage?.headersSent === true && (socket.writableLength > 0 || pipelinedRequests(socket) > 0)

/**
 * Closes the connection of a caller who reads too slowly: an unread response holds memory and permits. Watches
 * connections: a reference to each response would cost a tenth of a get in garbage collection. Register it before the
 * routes.
 */
export const cutOffSlowReaders = (app: FastifyInstance, limits = defaultLimits): void => {
  const rules = [
    { reason: 'stalled', lastsMs: limits.stalledMs, minBytes: 1 },
    { reason: 'slow', lastsMs: limits.windowMs, minBytes: limits.minBytes },
  ]
  /** The windows of each connection while it {@link isAwaited}, in the order of the rules. */
  const connections = new Map<ClientSocket, Window[]>()
  app.server.on('connection', (socket: ClientSocket) => {
    connections.set(socket, [])
    socket.once('close', () => connections.delete(socket))
  })

  const check = (socket: ClientSocket, windows: Window[], now: number) => {
    // Without a handle, it is destroyed.
    if (!isAwaited(socket) || !socket._handle) return void windows.splice(0)
    const sentBytes = socket._handle.bytesWritten - socket._handle.writeQueueSize
    for (const [index, { reason, lastsMs, minBytes }] of rules.entries()) {
      const window = windows[index]
      if (!window || sentBytes - window.startBytes >= minBytes) {
        windows[index] = { endsAt: now + lastsMs, startBytes: sentBytes }
      } else if (now >= window.endsAt) {
        cutOffs.inc({ reason })
        app.log.warn({ reason }, 'the response was cut off: its caller does not read it')
        return void socket.destroy()
      }
    }
  }
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, windows] of connections) check(socket, windows, now)
  }, limits.intervalMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
