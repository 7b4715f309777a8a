import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from '@fms/aip'
import { Counter, countEventStream } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'

const endReasons = ['caller', 'service', 'drain', 'displaced', 'unauthorized', 'unavailable'] as const
type EndReason = (typeof endReasons)[number]

const endedStreams = new Counter({
  name: 'event_streams_ended_total',
  help: 'Event streams that ended: by the caller, who left or was cut off, the service, a drain, a newcomer in a full gateway (displaced), a key or membership that ended (unauthorized), or keys that could not be checked (unavailable)',
  labelNames: ['reason'],
})
for (const reason of endReasons) endedStreams.inc({ reason }, 0)

/** How often the caller is authorized again, in milliseconds: with the cache, a revoked key's stream ends within five seconds. */
const authorizeMs = 2_000

/** How long an ended stream may take to flush, in milliseconds: less than a gateway has to close. */
const flushMs = 5_000

/** HTTP status codes of errors that say that the caller may not read the stream. With others, that is unknown. */
const refusals = new Set([401, 403, 404])

export interface OpenStreamOptions {
  /** The response to the caller. Its head is written already. */
  raw: ServerResponse
  body: Readable
  log: FastifyBaseLogger
  /** Rejects when the caller may no longer read the stream, or when that cannot be checked. */
  authorize: () => Promise<void>
}

/** Copies an event stream to its caller until either side or the access ends. Clients resume where it ended. */
export class OpenStream {
  readonly #options: OpenStreamOptions
  readonly #timer: NodeJS.Timeout
  #hasEnded = false
  #isAuthorizing = false

  constructor(options: OpenStreamOptions) {
    const { raw, body } = options
    this.#options = options
    this.#timer = setInterval(() => this.#authorize(), authorizeMs)
    body.pipe(raw, { end: false })
    body.once('close', () => this.end('service'))
    raw.once('close', () => this.end('caller'))
    countEventStream(raw)
  }

  /** Ends the response, and the request to the service. */
  end(reason: EndReason): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { raw, body, log } = this.#options
    clearInterval(this.#timer)
    endedStreams.inc({ reason })
    log.info({ reason }, 'event stream ended')
    body.destroy()
    raw.end()
    setTimeout(() => raw.destroy(), flushMs).unref()
  }

  /** Skips a turn while the previous authorization is in progress. */
  #authorize(): void {
    if (this.#isAuthorizing) return
    this.#isAuthorizing = true
    this.#options
      .authorize()
      .catch((error) => this.#reject(error))
      .finally(() => {
        this.#isAuthorizing = false
      })
  }

  #reject(error: unknown): void {
    const isRefusal = error instanceof ApiError && refusals.has(error.httpStatus)
    if (!(error instanceof ApiError)) this.#options.log.error({ err: error }, 'an authorization has failed')
    this.end(isRefusal ? 'unauthorized' : 'unavailable')
  }
}
