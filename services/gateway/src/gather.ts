import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

/** Longer answers, and those that do not tell their length, stream: what waits in memory is bounded. */
const maxGatheredBytes = 256 * 1024

export interface Answer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: Buffer | Readable
}

/**
 * Sends a request and resolves with its answer: a short one whole, which costs half of what a stream does, a long one
 * as soon as its head is there.
 *
 * @param signal aborts it until then.
 */
export const gather = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal?: AbortSignal,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Gatherer(resolve, reject, signal))
  })

class Gatherer implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: Error) => void
  readonly #signal: AbortSignal | undefined
  readonly #chunks: Buffer[] = []
  #statusCode = 0
  #headers: IncomingHttpHeaders = {}
  #stream: Readable | undefined

  constructor(resolve: (answer: Answer) => void, reject: (error: Error) => void, signal?: AbortSignal) {
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const abort = () => controller.abort(this.#signal?.reason)
    if (this.#signal?.aborted) abort()
    else this.#signal?.addEventListener('abort', abort, { once: true })
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#statusCode = statusCode
    this.#headers = headers
    if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) > maxGatheredBytes) {
      this.#stream = streamOf(controller)
      this.#answer(this.#stream)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#stream) this.#chunks.push(chunk)
    else if (!this.#stream.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#stream) this.#stream.push(null)
    else this.#answer(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream) this.#stream.destroy(error)
    else this.#reject(error)
  }

  #answer(body: Buffer | Readable): void {
    this.#resolve({ statusCode: this.#statusCode, headers: this.#headers, body })
  }
}

const streamOf = (controller: Dispatcher.DispatchController): Readable => {
  const stream = new Readable({
    read: () => controller.resume(),
    destroy: (error, done) => {
      controller.abort(error ?? new Error('nobody reads the answer to its end'))
      done(error)
    },
  })
  // Destroying it when its reader has gone is an error to nobody.
  stream.on('error', () => {})
  return stream
}
