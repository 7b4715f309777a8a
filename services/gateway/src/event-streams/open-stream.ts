import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from '@fms/aip'
import { Counter, countEventStream } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'

const endReasons = ['caller', 'service', 'drain', 'displaced', 'unauthorized', 'unavailable', 'slow'] as const
type EndReason = (typeof endReasons)[number]

const endedStreams = new Counter({
  name: 'event_streams_ended_total',
  help: 'Event streams that ended: by the caller, the service, a drain, a newcomer in a full gateway (displaced), a key or membership that ended (unauthorized), keys that could not be checked (unavailable), or cut off (slow)',
  labelNames: ['reason'],
})
for (const reason of endReasons) endedStreams.inc({ reason }, 0)

/** How often the caller is authorized again, in milliseconds: with the cache, a revoked key's stream ends within five seconds. */
const authorizeMs = 2_000

/** Maximum number of bytes that wait for the caller. Beyond it, nothing is read from the service. */
export const maxWaitingBytes = 64 * 1024

/** How long so many bytes may wait, and an ended stream may take to flush, in milliseconds. */
const slowMs = 5_000

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
  #flushTimer: NodeJS.Timeout | undefined
  #reason: EndReason | undefined
  #isAuthorizing = false

  constructor(options: OpenStreamOptions) {
    const { raw, body } = options
    this.#options = options
    this.#timer = setInterval(() => this.#authorize(), authorizeMs)
    body.on('data', (chunk: Buffer) => this.#write(chunk))
    body.once('close', () => this.end('service'))
    raw.once('close', () => this.#close())
    countEventStream(raw)
  }

  /** Ends the response, and the request to the service. */
  end(reason: EndReason): void {
    if (this.#reason) return
    const { raw, body } = this.#options
    this.#stop(reason)
    body.destroy()
    raw.end()
    if (!raw.writableFinished) this.#flushTimer ??= setTimeout(() => raw.destroy(), slowMs)
  }

  #stop(reason: EndReason): void {
    this.#reason = reason
    clearInterval(this.#timer)
    endedStreams.inc({ reason })
    this.#options.log.info({ reason }, 'event stream ended')
  }

  #write(chunk: Buffer): void {
    if (this.#reason) return
    const { raw, body } = this.#options
    raw.write(chunk)
    if (raw.writableLength <= maxWaitingBytes || this.#flushTimer) return
    body.pause()
    this.#flushTimer = setTimeout(() => this.#cutOff(), slowMs)
    raw.once('drain', () => {
      if (this.#reason) return
      clearTimeout(this.#flushTimer)
      this.#flushTimer = undefined
      body.resume()
    })
  }

  #cutOff(): void {
    if (!this.#reason) this.#stop('slow')
    this.#options.body.destroy()
    this.#options.raw.destroy()
  }

  /** Skips a turn while the previous authorization is in progress. */
  #authorize(): void {
    if (this.#reason || this.#isAuthorizing) return
    this.#isAuthorizing = true
    this.#options
      .authorize()
      .catch((error) => this.#reject(error))
      .finally(() => {
        this.#isAuthorizing = false
      })
  }

  #reject(error: unknown): void {
    if (this.#reason) return
    const isRefusal = error instanceof ApiError && refusals.has(error.httpStatus)
    if (!(error instanceof ApiError)) this.#options.log.error({ err: error }, 'an authorization has failed')
    this.end(isRefusal ? 'unauthorized' : 'unavailable')
  }

  #close(): void {
    if (!this.#reason) this.#stop('caller')
    clearTimeout(this.#flushTimer)
    this.#options.body.destroy()
  }
}
