import type { FastifyBaseLogger } from 'fastify'
import { type Agent, type Dispatcher, errors } from 'undici'
import type { WaitingCaller } from '../door/door.ts'
import { upstreamUnavailable } from '../errors.ts'
import { createCircuit } from './circuit.ts'
import { sendBuffered, type UpstreamResponse } from './send-buffered.ts'

/** Timeout of a probe, in milliseconds. */
const probeTimeoutMs = 1_000

export interface UpstreamRequest extends Omit<Dispatcher.DispatchOptions, 'origin'> {
  /** The request is aborted when the caller disconnects before the service responds. */
  caller?: WaitingCaller
  /** Connections for this request. Default: those of the upstream. */
  agent?: Agent
  /** Bytes of a long response that are buffered. Default: more than any page of a list has. */
  maxBufferedBytes?: number
}

/** A service behind the gateway, with its circuit. */
export interface Upstream {
  name: string
  origin: string
  /**
   * Sends a request. Returns every response, error responses included.
   *
   * @throws {ApiError} UPSTREAM_UNAVAILABLE when the service does not respond; a write may have been done.
   */
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
      const { caller } = request
      const send = () => sendWithRetry(request.agent ?? agent, { origin, ...request })
      try {
        const response = await circuit(send, () => !caller?.hasEnded)
        // The service rejected the gateway's token. A 401 would suggest to the caller that its key is invalid.
        if (response.headers['www-authenticate'] === 'FmsIdentity')
          throw new Error('the service rejects the identity token: does it have another INTERNAL_SECRET?')
        return response
      } catch (error) {
        throw upstreamUnavailable(name, error)
      }
    },
  }
}

/**
 * Resolves when the service responds to `/healthz` with 200.
 *
 * @param agent a separate one for probes, so that no probe waits for a request.
 * @throws {Error} on any other status, and when there is no response within a second.
 */
export const probe = async (agent: Agent, name: string, origin: string): Promise<void> => {
  const { statusCode } = await sendBuffered(agent, {
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
  const { caller, maxBufferedBytes } = request
  try {
    return await sendBuffered(agent, request, caller, maxBufferedBytes)
  } catch (error) {
    if (caller?.hasEnded || !isIdempotent(request) || !isDeadConnection(error)) throw error
    return await sendBuffered(agent, request, caller, maxBufferedBytes)
  }
}

/** Whether the request may be sent twice (RFC 9110 §9.2.2). DELETE may not: its retry would be a 404. */
const isIdempotent = ({ method, idempotent }: Pick<UpstreamRequest, 'method' | 'idempotent'>) =>
  idempotent ?? (method === 'GET' || method === 'HEAD')

const isDeadConnection = (error: unknown) =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === 'ECONNRESET'
