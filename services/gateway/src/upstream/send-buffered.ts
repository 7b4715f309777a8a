import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { WaitingCaller } from '../door/door.ts'

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
    const chunks: Buffer[] = []
    const head = { statusCode: 0, headers: {} as IncomingHttpHeaders }
    let stream: LongBody | undefined
    const release = () => {
      if (caller) caller.onDisconnect = undefined
    }
    const respond = (body: Buffer | LongBody) => {
      release()
      resolve({ ...head, body })
    }
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        if (!caller) return
        // A property and not a listener: one that is added and removed for each request costs a tenth of a get.
        caller.onDisconnect = () => controller.abort(new Error('the caller has disconnected'))
        if (caller.hasEnded) caller.onDisconnect()
      },
      onResponseStart(controller, statusCode, headers) {
        Object.assign(head, { statusCode, headers })
        if (!hasBody(request.method, statusCode) || lengthOf(headers) <= maxShortBytes) return
        stream = new LongBody(controller, maxBytes)
        respond(stream)
      },
      onResponseData(controller, chunk) {
        if (!stream) chunks.push(chunk)
        else if (!stream.push(chunk)) controller.pause()
      },
      onResponseEnd() {
        if (stream) stream.end()
        else respond(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
      },
      onResponseError(_, error) {
        if (stream) return void stream.destroy(error)
        release()
        reject(error)
      },
    })
  })

/** Whether content-length is that of a body which follows (RFC 9110 §6.4.1). */
const hasBody = (method: string, statusCode: number) => method !== 'HEAD' && statusCode !== 304

const lengthOf = (headers: IncomingHttpHeaders) =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
