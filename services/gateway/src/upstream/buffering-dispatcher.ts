import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { WaitingCaller } from '../door/wait-for-turn.ts'

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
  body: Buffer | LongBody
}

/** A long body. It starts to buffer, by default up to {@link maxBufferedBytes}, when its consumer starts to read. */
export class LongBody extends Readable {
  readonly #controller: Dispatcher.DispatchController
  readonly #received = Promise.withResolvers<void>()

  constructor(controller: Dispatcher.DispatchController, highWaterMark: number) {
    super({ highWaterMark })
    this.#controller = controller
    controller.pause()
    // A consumer that disconnects destroys the stream with an error, which needs no handling.
    this.on('error', () => {})
  }

  /** Settles when the last byte is buffered, or the body is destroyed before. */
  get received(): Promise<void> {
    return this.#received.promise
  }

  end(): void {
    this.push(null)
    this.#received.resolve()
  }

  override _read(): void {
    this.#controller.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#received.resolve()
    this.#controller.abort(error ?? new Error('the response was not read to its end'))
    done(error)
  }
}

/**
 * Sends a request. Resolves with a short response when it is complete, and with a long one when its head has arrived.
 *
 * @param caller the request is aborted when it disconnects before that.
 * @param maxBytes bytes of a long response that are buffered.
 */
export const sendBuffered = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  caller?: WaitingCaller,
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
  readonly #caller: WaitingCaller | undefined
  readonly #chunks: Buffer[] = []
  #statusCode = 0
  #headers: IncomingHttpHeaders = {}
  #stream: LongBody | undefined

  constructor(
    method: string,
    resolve: (response: UpstreamResponse) => void,
    reject: (error: Error) => void,
    maxBytes: number,
    caller?: WaitingCaller,
  ) {
    this.#method = method
    this.#resolve = resolve
    this.#reject = reject
    this.#maxBytes = maxBytes
    this.#caller = caller
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (!this.#caller) return
    // A property and not a listener: one that is added and removed for each request costs a tenth of a get.
    const abort = () => controller.abort(new Error('the caller has disconnected'))
    if (this.#caller.hasEnded) abort()
    else this.#caller.onDisconnect = abort
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#statusCode = statusCode
    this.#headers = headers
    if (hasBody(this.#method, statusCode) && lengthOf(headers) > maxShortBytes) {
      this.#stream = new LongBody(controller, this.#maxBytes)
      this.#respond(this.#stream)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#stream) this.#chunks.push(chunk)
    else if (!this.#stream.push(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#stream) this.#stream.end()
    else this.#respond(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream) {
      this.#stream.destroy(error)
      return
    }
    this.#release()
    this.#reject(error)
  }

  #respond(body: Buffer | LongBody): void {
    this.#release()
    this.#resolve({ statusCode: this.#statusCode, headers: this.#headers, body })
  }

  #release(): void {
    if (this.#caller) this.#caller.onDisconnect = undefined
  }
}

/** Whether content-length is that of a body which follows (RFC 9110 §6.4.1). */
const hasBody = (method: string, statusCode: number) => method !== 'HEAD' && statusCode !== 304

const lengthOf = (headers: IncomingHttpHeaders) =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
