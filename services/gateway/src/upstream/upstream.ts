import type { FastifyBaseLogger } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import type { WaitingCaller } from '../door/wait-for-turn.ts'
import { upstreamUnavailable } from '../errors.ts'
import { sendBuffered, type UpstreamResponse } from './buffering-dispatcher.ts'
import { createCircuit } from './circuit.ts'
import { spreadLookup } from './spread-lookup.ts'

/** Idle time after which a connection is closed, in milliseconds; well below the default of `DRAIN_MS`. */
const idleMs = 2_000

/**
 * Timeout of a response's head and of each part of its body, in milliseconds. A little longer than services wait for a
 * lock or a majority of the store, so that their own error arrives.
 */
const defaultTimeoutMs = 6_000

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

/**
 * The connections to all upstreams. Their number is not limited, since admitted requests are: no request waits for a
 * connection. The gateway closes idle connections before a stopping service does (`DRAIN_MS`), since a write that is
 * sent on a closing connection cannot be retried. Busy ones are closed after a minute, so that a new instance gets its
 * share.
 *
 * @param timeoutMs of a response's head, and of each part of its body.
 */
export const createAgent = (timeoutMs = defaultTimeoutMs) =>
  new Agent({ ...connectionOptions, clientTtl: 60_000, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })

/**
 * The connections for event streams, one for each open stream. They are not among those of {@link createAgent}, where
 * each request would search them for one that is free.
 *
 * @param bodyTimeoutMs maximum time between two parts of a stream. Longer than the interval of its comments.
 */
export const createStreamAgent = (bodyTimeoutMs: number) =>
  new Agent({ ...connectionOptions, headersTimeout: defaultTimeoutMs, bodyTimeout: bodyTimeoutMs })

const connectionOptions = {
  pipelining: 1,
  connect: { timeout: 1_000, lookup: spreadLookup() },
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
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
