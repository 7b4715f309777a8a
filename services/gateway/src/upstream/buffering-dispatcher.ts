import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

/** Length up to which a response is returned as bytes. Longer ones, and those of unknown length, are streams. */
export const maxShortBytes = 256 * 1024

/**
 * Bytes of a long response that are buffered. A page of a list has at most 4 MiB and one form, so every response of a
 * service fits, and releases its upstream connection without waiting for the caller.
 */
export const maxBufferedBytes = 5.5 * 1024 * 1024

export interface UpstreamResponse {
  statusCode: number
  headers: IncomingHttpHeaders
  /** A stream starts to buffer, by default up to {@link maxBufferedBytes}, when its consumer starts to read. */
  body: Buffer | Readable
}

/**
 * Sends a request. Resolves with a short response when it is complete, and with a long one when its head has arrived.
 *
 * @param caller the response to the caller: the request is aborted when it closes before that.
 * @param maxBytes bytes of a long response that are buffered.
 */
export const sendBuffered = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  caller?: ServerResponse,
  maxBytes = maxBufferedBytes,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new BufferingHandler(request.method, resolve, reject, maxBytes, caller))
  })

class BufferingHandler implements Dispatcher.DispatchHandler {
  readonly #method: string
  readonly #resolve: (response: UpstreamResponse) => void
  readonly #reject: (error: Error) => void
  readonly #maxBytes: number
  readonly #caller: ServerResponse | undefined
  #abort = () => {}
  readonly #chunks: Buffer[] = []
  #statusCode = 0
  #headers: IncomingHttpHeaders = {}
  #stream: Readable | undefined

  constructor(
    method: string,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: Error) => void,
    maxBytes: number,
    caller?: ServerResponse,
  ) {
    this.#method = method
    this.#resolve = resolve
    this.#reject = reject
    this.#maxBytes = maxBytes
    this.#caller = caller
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.#caller) return
    this.#abort = () => controller.abort(new Error('the caller has disconnected'))
    if (this.#caller.destroyed) this.#abort()
    else this.#caller.once('close', this.#abort)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#statusCode = statusCode
    this.#headers = headers
    if (hasBody(this.#method, statusCode) && lengthOf(headers) > maxShortBytes) {
      this.#stream = streamOf(controller, this.#maxBytes)
      this.#respond(this.#stream)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#stream) this.#chunks.push(chunk)
    else if (!this.#stream.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#stream) this.#stream.push(null)
    else this.#respond(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream) {
      this.#stream.destroy(error)
      return
    }
    this.#caller?.off('close', this.#abort)
    this.#reject(error)
  }

  #respond(body: Buffer | Readable): void {
    this.#caller?.off('close', this.#abort)
    this.#resolve({ statusCode: this.#statusCode, headers: this.#headers, body })
  }
}

/** Whether content-length is that of a body which follows (RFC 9110 §6.4.1). */
const hasBody = (method: string, statusCode: number) => method !== 'HEAD' && statusCode !== 304

const lengthOf = (headers: IncomingHttpHeaders) =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)

const streamOf = (controller: Dispatcher.DispatchController, maxBytes: number): Readable => {
  controller.pause()
  const stream = new Readable({
    highWaterMark: maxBytes,
    read: () => controller.resume(),
    destroy: (error, done) => {
      controller.abort(error ?? new Error('the response was not read to its end'))
      done(error)
    },
  })
  // A consumer that disconnects destroys the stream with an error, which needs no handling.
  stream.on('error', () => {})
  return stream
}
