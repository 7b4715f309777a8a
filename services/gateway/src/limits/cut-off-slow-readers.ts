import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, pipelinedRequests } from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

const cutOffs = new Counter({
  name: 'responses_cut_off_total',
  help: 'Responses that were cut off: stalled, no byte read for 10 s, or slow, below 16 KiB/s over 30 s',
  labelNames: ['reason'],
})
for (const reason of ['stalled', 'slow']) cutOffs.inc({ reason }, 0)

const exempted = new WeakSet<ServerResponse>()

/**
 * Exempts a response: an event stream may send nothing for long, and has its own rule for slow readers. Only while no
 * request waits behind it, whose response would be held as long as the stream.
 */
export const exemptFromCutOff = (raw: ServerResponse): void => void exempted.add(raw)

const defaultLimits = {
  /** How long a caller may read no byte of a response. */
  stalledMs: 10_000,
  /** A window in which a caller has to read `minBytes`. */
  windowMs: 30_000,
  minBytes: 30 * 16 * 1024,
  /** How often connections are checked. */
  intervalMs: 1_000,
}

/** A connection, and how much it has sent of its current response. */
interface Connection {
  /**
   * Node stores the response that is being sent on its socket; those of pipelined requests wait for it. Only the handle
   * counts the part of a chunk that is sent.
   */
  socket: Socket & {
    _httpMessage?: ServerResponse | null
    _handle?: { bytesWritten: number; writeQueueSize: number } | null
  }
  /** The response that the window belongs to; none before the first check of a response that has begun. */
  raw: ServerResponse | undefined
  windowEnd: number
  /** Bytes that the socket had sent when the window began. */
  windowStartBytes: number
}

/**
 * Closes the connection of a caller who reads too slowly: an unread response holds memory and permits. Watches
 * connections: a reference to each response would cost a tenth of a get in garbage collection. Register it before the
 * routes.
 */
export const cutOffSlowReaders = (app: FastifyInstance, limits = defaultLimits): void => {
  const connections = new Set<Connection>()
  app.server.on('connection', (socket: Socket) => {
    const connection: Connection = { socket, raw: undefined, windowEnd: 0, windowStartBytes: 0 }
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  const timer = setInterval(() => {
    for (const connection of connections) {
      const { socket } = connection
      const raw = socket._httpMessage
      const isExempted = raw && exempted.has(raw) && pipelinedRequests(socket) === 0
      if (raw?.headersSent && !isExempted) check(connection, raw, limits, app.log)
      else connection.raw = undefined
    }
  }, limits.intervalMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

const check = (
  connection: Connection,
  raw: ServerResponse,
  { stalledMs, windowMs, minBytes }: typeof defaultLimits,
  log: FastifyBaseLogger,
): void => {
  const { socket } = connection
  const now = performance.now()
  // Destroyed just now.
  if (!socket._handle) return
  const sentBytes = socket._handle.bytesWritten - socket._handle.writeQueueSize
  if (connection.raw !== raw) {
    connection.raw = raw
    // Node restarts this timer whenever the socket sends bytes.
    raw.setTimeout(stalledMs, () => cutOff(raw, 'stalled', log))
    // The timer belongs to the connection. Prepended, since Node sets the keep-alive timeout on `finish`.
    raw.prependOnceListener('finish', () => raw.socket?.setTimeout(0))
  } else {
    if (now < connection.windowEnd) return
    if (sentBytes - connection.windowStartBytes < minBytes) cutOff(raw, 'slow', log)
  }
  connection.windowEnd = now + windowMs
  connection.windowStartBytes = sentBytes
}

const cutOff = (raw: ServerResponse, reason: 'stalled' | 'slow', log: FastifyBaseLogger): void => {
  cutOffs.inc({ reason })
  log.warn({ reason }, 'the response was cut off: its caller does not read it')
  raw.destroy()
}
