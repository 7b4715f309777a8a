import type { ServerResponse } from 'node:http'
import { overloaded, shedHeader } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import { upstreamUnavailable } from '../errors.ts'
import { sendBuffered, type UpstreamResponse } from './buffering-dispatcher.ts'
import { Abandoned, type Circuit, ConcurrencyLimitReached, createCircuit, Refused } from './circuit.ts'
import { spreadLookup } from './spread-lookup.ts'

/** How long a connection may be idle; well below the default of `DRAIN_MS`. */
const idleMs = 2_000

/**
 * How long a response may take to begin, and then to go on. A little longer than forms and organizations wait for a
 * lock or a majority, so that their own error arrives.
 */
const defaultTimeoutMs = 6_000

/** How long a probe waits, in milliseconds. */
const probeTimeoutMs = 1_000

/** A refused write that took longer is a failure, too: callers shall not wait for more of them. */
const slowMs = 1_000

export interface UpstreamRequest extends Omit<Dispatcher.DispatchOptions, 'origin'> {
  /** Aborts the request when its caller closes before there is a response. */
  caller?: ServerResponse
  /** Whose circuit it goes through; by default the gateway's own. */
  circuitKey?: string
}

/** A service behind the gateway, with the circuit round it. */
export interface Upstream {
  name: string
  origin: string
  /**
   * @throws {ApiError} UPSTREAM_UNAVAILABLE when it does not respond; whatever it responds is returned. A write may have
   *   been done. OVERLOADED when too many requests have no response yet, also those of callers who went away.
   */
  request(request: UpstreamRequest): Promise<UpstreamResponse>
}

/**
 * The connections to all upstreams: as many as there are requests, which are bounded before, so that none waits for a
 * connection. Idle ones end here first, and before a service that was told to stop ends them (`DRAIN_MS`): a write that
 * goes out while its connection ends can be repeated by nobody. Busy ones end after a minute, so that an instance that
 * was added gets its share.
 *
 * @param timeoutMs for the response to begin, and between two parts of it.
 */
export const createAgent = (timeoutMs = defaultTimeoutMs) =>
  new Agent({
    pipelining: 1,
    connect: { timeout: 1_000, lookup: spreadLookup() },
    clientTtl: 60_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  })

export interface UpstreamOptions {
  name: string
  origin: string
  agent: Agent
  logger: FastifyBaseLogger
  /** Requests that may have no response yet. */
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
          const response = await sendWithRetry(agent, { origin, ...request })
          return refuseFailure(response, request, start)
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
 * Resolves when the service responds to `/healthz`.
 *
 * @param agent for probes alone, so that no request stands in their way.
 * @throws {Error} when it does not.
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

/** A response that says the service cannot work: the caller gets it as it is, the circuit counts it as a failure. */
class FailedResponse extends Refused {
  readonly response: UpstreamResponse

  constructor(response: UpstreamResponse) {
    super(`responded ${response.statusCode}`)
    this.response = response
  }
}

/** @param start when the request was sent, by `performance.now()`. */
const refuseFailure = (response: UpstreamResponse, request: UpstreamRequest, start: number) => {
  const { statusCode, headers } = response
  // Our own word was not taken. The caller has nothing to do with that, and a 401 would tell it that its key is bad.
  if (headers['www-authenticate'] === 'FmsIdentity') {
    throw new Error('the service refuses the identity token: has it another INTERNAL_SECRET?')
  }
  // It works, and has enough to do: an open circuit would leave it without work.
  if (headers[shedHeader] !== undefined) return response
  if (statusCode < 502 || statusCode > 504) return response
  // A store whose disk is full refuses writes at once and goes on to read: then only a read tells that nothing works.
  const isSlow = performance.now() - start >= slowMs
  if (isIdempotent(request) || isSlow) throw new FailedResponse(response)
  return response
}

/** An idle connection may end just when it is used: worth another try where doing it twice changes nothing. */
const sendWithRetry = async (agent: Agent, request: UpstreamRequest & { origin: string }) => {
  const { caller } = request
  try {
    return await sendBuffered(agent, request, caller)
  } catch (error) {
    if (caller?.destroyed) throw new Abandoned('the caller has gone')
    if (!isIdempotent(request) || !isDeadConnection(error)) throw error
    return await sendBuffered(agent, request, caller)
  }
}

/** Whether a second time changes nothing (RFC 9110 §9.2.2). The services' PATCH and DELETE are not, for us. */
const isIdempotent = ({ method, idempotent }: Pick<UpstreamRequest, 'method' | 'idempotent'>) =>
  idempotent ?? (method === 'GET' || method === 'HEAD')

const isDeadConnection = (error: unknown) =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === 'ECONNRESET'
