import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { type Agent, type Dispatcher, errors } from 'undici'
import type { WaitingReply } from '../admission/admission-queue.ts'
import { maxBufferedBytes } from '../config.ts'
import { upstreamUnavailable } from '../errors.ts'
import { createCircuit } from './circuit.ts'

const probeTimeoutMs = 1_000

/** Length up to which a response is returned as bytes. Longer ones, and those of unknown length, are streams. */
export const maxShortBytes = 256 * 1024

export interface UpstreamResponse {
  statusCode: number
  headers: IncomingHttpHeaders
  body: Buffer | StreamedBody
}

/** A long body. It starts to buffer, by default up to {@link maxBufferedBytes}, when its consumer starts to read. */
export class StreamedBody extends Readable {
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

/** The text of a short response. Ends a long one, which would keep its connection until it is read. */
export const textOf = ({ body }: UpstreamResponse) =>
  String(body instanceof StreamedBody ? body.destroy() : body)

export interface UpstreamRequest extends Omit<Dispatcher.DispatchOptions, 'origin'> {
  /** The request is aborted when the caller disconnects before the service responds, unless it is a trial of the circuit. */
  reply?: WaitingReply | undefined
  /** Connections for this request. Default: those of the upstream. */
  agent?: Agent
  /** Bytes of a long response that are buffered. Default: more than any page of a list has. */
  maxBufferedBytes?: number
}

/** A service behind the gateway, with its circuit. */
export interface Upstream {
  name: string
  origin: string
  /** Sends a request. Returns error responses, too. @throws {ApiError} UPSTREAM_UNAVAILABLE; a write may have been done. */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
}

export interface UpstreamOptions {
  name: string
  origin: string
  agent: Agent
  logger: FastifyBaseLogger
}

export const createUpstream = ({ name, origin, agent, logger }: UpstreamOptions): Upstream => {
  const circuit = createCircuit(name, logger)
  return {
    name,
    origin,
    async request(request) {
      const { reply } = request
      const send = async (isTrial: boolean) => {
        // A trial runs to its end: callers who leave would keep the circuit open.
        const aborting = isTrial ? undefined : reply
        const response = await sendWithRetry(request.agent ?? agent, { origin, ...request, reply: aborting })
        // The service rejected the gateway's token. A 401 would suggest to the caller that its key is invalid.
        if (response.headers['www-authenticate'] === 'FmsIdentity')
          throw new Error('the service rejects the identity token: does it have another INTERNAL_SECRET?')
        return response
      }
      try {
        return await circuit(send, () => !reply?.hasEnded)
      } catch (error) {
        throw upstreamUnavailable(name, error)
      }
    },
  }
}

/** Resolves when `/healthz` responds with 200 within a second. Passes no circuit. */
export const probe = async (agent: Agent, name: string, origin: string): Promise<void> => {
  const { statusCode } = await sendWithRetry(agent, {
    origin,
    method: 'GET',
    path: '/healthz',
    headersTimeout: probeTimeoutMs,
    bodyTimeout: probeTimeoutMs,
  })
  if (statusCode !== 200) throw new Error(`${name} responds to /healthz with ${statusCode}`)
}

/** Retries an idempotent request once when its connection was closed: an idle one may close just as it is used. */
const sendWithRetry = async (agent: Agent, request: UpstreamRequest & { origin: string }) => {
  const { reply, maxBufferedBytes } = request
  try {
    return await sendBuffered(agent, request, reply, maxBufferedBytes)
  } catch (error) {
    if (reply?.hasEnded || !isIdempotent(request) || !isDeadConnection(error)) throw error
    return await sendBuffered(agent, request, reply, maxBufferedBytes)
  }
}

/** Whether the request may be sent twice (RFC 9110 §9.2.2). DELETE may not: its retry would be a 404. */
const isIdempotent = ({ method, idempotent }: Pick<UpstreamRequest, 'method' | 'idempotent'>) =>
  idempotent ?? (method === 'GET' || method === 'HEAD')

const isDeadConnection = (error: unknown) =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === 'ECONNRESET'

/** Resolves with a short response when it is complete, with a long one at its head. A disconnect aborts it until then. */
export const sendBuffered = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  reply?: WaitingReply,
  maxBytes = maxBufferedBytes,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const head = { statusCode: 0, headers: {} as IncomingHttpHeaders }
    let stream: StreamedBody | undefined
    const release = () => {
      if (reply) reply.onDisconnect = undefined
    }
    const respond = (body: Buffer | StreamedBody) => {
      release()
      resolve({ ...head, body })
    }
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        if (!reply) return
        // A property and not a listener: one that is added and removed for each request costs a tenth of a get.
        // V8 allocates a function that is assigned to a property as it is written in old space, and keeps what it holds.
        const abort = () => controller.abort(new Error('the caller has disconnected'))
        reply.onDisconnect = abort
        if (reply.hasEnded) abort()
      },
      onResponseStart(controller, statusCode, headers) {
        Object.assign(head, { statusCode, headers })
        if (!hasBody(request.method, statusCode) || lengthOf(headers) <= maxShortBytes) return
        stream = new StreamedBody(controller, maxBytes)
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
