import type { ServerResponse } from 'node:http'
import { Counter } from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

const cutOffs = new Counter({
  name: 'responses_cut_off_total',
  help: 'Responses that were cut off: stalled, no byte read for 10 s, or slow, below 16 KiB/s over 30 s',
  labelNames: ['reason'],
})
for (const reason of ['stalled', 'slow']) cutOffs.inc({ reason }, 0)

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An event stream may send nothing for long, and has its own rule for slow readers. */
    isEventStream?: boolean
  }
}

export interface SlowReaderLimits {
  /** How long a caller may read no byte of a response. */
  stalledMs: number
  /**
   * Length of a window, in which a caller has to read {@link minBytes}. A chunk that is written in one call, such as a
   * response that is no stream, counts once all of it is read.
   */
  windowMs: number
  minBytes: number
  /** How often responses are checked. */
  intervalMs: number
}

const defaultLimits: SlowReaderLimits = {
  stalledMs: 10_000,
  windowMs: 30_000,
  minBytes: 30 * 16 * 1024,
  intervalMs: 1_000,
}

interface OpenResponse {
  raw: ServerResponse
  log: FastifyBaseLogger
  /** End of the current window; undefined before the first check of a response that has begun. */
  windowEnd: number | undefined
  /** Bytes that the socket had sent when the window began. */
  windowStartBytes: number
}

/**
 * Closes the connection of a caller who reads its response too slowly: an unread response holds memory and permits.
 * Register it before the routes.
 */
export const cutOffSlowReaders = (app: FastifyInstance, limits = defaultLimits): void => {
  const responses = new Set<OpenResponse>()
  app.addHook('onRequest', ({ log, routeOptions }, { raw }, done) => {
    if (routeOptions.config?.isEventStream) return done()
    const response: OpenResponse = { raw, log, windowEnd: undefined, windowStartBytes: 0 }
    responses.add(response)
    raw.once('close', () => responses.delete(response))
    done()
  })
  const timer = setInterval(() => {
    for (const response of responses) check(response, limits)
  }, limits.intervalMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

const check = (response: OpenResponse, { stalledMs, windowMs, minBytes }: SlowReaderLimits): void => {
  const { raw } = response
  // Without a socket, the response waits for an earlier one of its connection (pipelining), which is checked instead.
  if (!raw.headersSent || !raw.socket) return
  const now = performance.now()
  const sentBytes = raw.socket.bytesWritten - raw.socket.writableLength
  if (response.windowEnd === undefined) {
    // Node restarts this timer whenever the socket sends bytes.
    raw.setTimeout(stalledMs, () => cutOff(response, 'stalled'))
    // The timer belongs to the connection. Prepended, since Node sets the keep-alive timeout on `finish`.
    raw.prependOnceListener('finish', () => raw.socket?.setTimeout(0))
  } else {
    if (now < response.windowEnd) return
    if (sentBytes - response.windowStartBytes < minBytes) cutOff(response, 'slow')
  }
  response.windowEnd = now + windowMs
  response.windowStartBytes = sentBytes
}

const cutOff = ({ raw, log }: OpenResponse, reason: 'stalled' | 'slow'): void => {
  cutOffs.inc({ reason })
  log.warn({ reason }, 'the response was cut off: its caller does not read it')
  raw.destroy()
}
