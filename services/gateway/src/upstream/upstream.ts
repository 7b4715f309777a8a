import type { ServerResponse } from 'node:http'
import { shedHeader } from '@fms/contracts'
import { overloaded } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import { upstreamUnavailable } from '../errors.ts'
import { sendBuffered, type UpstreamResponse } from './buffering-dispatcher.ts'
import {
  Abandoned,
  type Circuit,
  ConcurrencyLimitReached,
  createCircuit,
  UpstreamFailure,
} from './circuit.ts'
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

/** Duration from which a failed write counts as a failure of the circuit, in milliseconds. */
const slowFailureMs = 1_000

export interface UpstreamRequest extends Omit<Dispatcher.DispatchOptions, 'origin'> {
  /** The response to the caller: the request is aborted when it closes before the service responds. */
  caller?: ServerResponse
  /** The circuit that the request goes through; by default the gateway's own. */
  circuitKey?: string
  /** Connections for this request. Default: those of the upstream. */
  agent?: Agent
  /** Bytes of a long response that are buffered. Default: more than any page of a list has. */
  maxBufferedBytes?: number
}

/** A service behind the gateway, with its circuits. */
export interface Upstream {
  name: string
  origin: string
  /**
   * Sends a request. Returns every response, error responses included.
   *
   * @throws {ApiError} UPSTREAM_UNAVAILABLE when the service does not respond; a write may have been done. OVERLOADED
   *   when too many requests are in flight, those of callers who disconnected included.
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
}

/**
 * The connections to all upstreams. Their number is not limited, since requests in flight are: no request waits for a
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
  /** Requests that may be in flight. */
  maxRequests: number
}

export const createUpstream = ({ name, origin, agent, logger, maxRequests }: UpstreamOptions): Upstream => {
  const circuit: Circuit = createCircuit(name, logger, maxRequests)
  return {
    name,
    origin,
    async request(request) {
      try {
        return await circuit(async () => {
          const start = performance.now()
          const response = await sendWithRetry(request.agent ?? agent, { origin, ...request })
          return throwIfFailed(response, request, start)
        }, request.circuitKey)
      } catch (error) {
        if (error instanceof FailedResponse) return error.response
        if (error instanceof ConcurrencyLimitReached) throw overloaded()
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

/** A response that the circuit counts as a failure. The caller gets it unchanged. */
class FailedResponse extends UpstreamFailure {
  readonly response: UpstreamResponse

  constructor(response: UpstreamResponse) {
    super(`responded ${response.statusCode}`)
    this.response = response
  }
}

/**
 * Returns the response unless the circuit has to count it as a failure.
 *
 * @param start when the request was sent, by `performance.now()`.
 */
const throwIfFailed = (response: UpstreamResponse, request: UpstreamRequest, start: number) => {
  const { statusCode, headers } = response
  // The service rejected the gateway's token. A 401 would suggest to the caller that its key is invalid.
  if (headers['www-authenticate'] === 'FmsIdentity') {
    throw new Error('the service rejects the identity token: does it have another INTERNAL_SECRET?')
  }
  // The service sheds load but works: an open circuit would leave it idle.
  if (headers[shedHeader] !== undefined) return response
  if (statusCode < 502 || statusCode > 504) return response
  // A store with a full disk rejects writes immediately and still reads, so a fast failure of a write is no sign that
  // the service is down.
  const isSlow = performance.now() - start >= slowFailureMs
  if (isIdempotent(request) || isSlow) throw new FailedResponse(response)
  return response
}

/** Retries an idempotent request once when its connection was closed: an idle one may close just as it is used. */
const sendWithRetry = async (agent: Agent, request: UpstreamRequest & { origin: string }) => {
  const { caller, maxBufferedBytes } = request
  try {
    return await sendBuffered(agent, request, caller, maxBufferedBytes)
  } catch (error) {
    if (caller?.destroyed) throw new Abandoned('the caller has disconnected')
    if (!isIdempotent(request) || !isDeadConnection(error)) throw error
    return await sendBuffered(agent, request, caller, maxBufferedBytes)
  }
}

/** Whether the request may be sent twice (RFC 9110 §9.2.2). DELETE may not: its retry would be a 404. */
const isIdempotent = ({ method, idempotent }: Pick<UpstreamRequest, 'method' | 'idempotent'>) =>
  idempotent ?? (method === 'GET' || method === 'HEAD')

const isDeadConnection = (error: unknown) =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === 'ECONNRESET'
