import type { ServerResponse } from 'node:http'
import { Counter } from '@fms/service-kit'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

const cutOffs = new Counter({
  name: 'responses_cut_off_total',
  help: 'Responses that their caller did not take: stalled, no byte for 10 s, or slow, below 16 KiB/s over 30 s',
  labelNames: ['reason'],
})
for (const reason of ['stalled', 'slow']) cutOffs.inc({ reason }, 0)

export interface SlowReaderLimits {
  /** How long a caller may take no byte of a response. */
  stalledMs: number
  /**
   * How long a caller may take {@link minBytes}, again and again; or the rest of the response, which is less. A part that
   * is written at once, such as a response that is no stream, counts when all of it is taken.
   */
  windowMs: number
  minBytes: number
  /** How often responses are looked at. One that ends within that time never is. */
  intervalMs: number
}

const defaultLimits: SlowReaderLimits = {
  stalledMs: 10_000,
  windowMs: 30_000,
  minBytes: 30 * 16 * 1024,
  intervalMs: 1_000,
}

interface Response {
  raw: ServerResponse
  log: FastifyBaseLogger
  /** Of the window that runs: undefined before the response began. */
  windowEnd: number | undefined
  /** Bytes that the socket had taken when the window began. */
  windowStartBytes: number
}

/**
 * Ends the connection of a caller who does not take its response: what waits for it holds memory and a place. Register
 * it before the routes.
 */
export const cutOffSlowReaders = (app: FastifyInstance, limits = defaultLimits): void => {
  const responses = new Set<Response>()
  app.addHook('onRequest', ({ log }, { raw }, done) => {
    const response: Response = { raw, log, windowEnd: undefined, windowStartBytes: 0 }
    responses.add(response)
    raw.once('close', () => responses.delete(response))
    done()
  })
  const timer = setInterval(() => {
    for (const response of responses) watch(response, limits)
  }, limits.intervalMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

const watch = (response: Response, { stalledMs, windowMs, minBytes }: SlowReaderLimits): void => {
  const { raw } = response
  // Without a socket it waits for an earlier response of its connection, which is looked at.
  if (!raw.headersSent || !raw.socket) return
  const now = performance.now()
  const taken = raw.socket.bytesWritten - raw.socket.writableLength
  if (response.windowEnd === undefined) {
    // Node restarts this timer whenever the socket takes something of what waits to be written.
    raw.setTimeout(stalledMs, () => cutOff(response, 'stalled'))
    // Before Node sets the timer of an idle connection: the timer is the connection's.
    raw.prependOnceListener('finish', () => raw.socket?.setTimeout(0))
  } else {
    if (now < response.windowEnd) return
    if (taken - response.windowStartBytes < minBytes) cutOff(response, 'slow')
  }
  response.windowEnd = now + windowMs
  response.windowStartBytes = taken
}

const cutOff = ({ raw, log }: Response, reason: 'stalled' | 'slow'): void => {
  cutOffs.inc({ reason })
  log.warn({ reason }, 'the response was cut off: its caller does not take it')
  raw.destroy()
}
