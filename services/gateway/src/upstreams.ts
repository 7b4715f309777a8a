import { overloaded, shedHeader } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import { type Circuit, CircuitFull, createCircuit, Refused } from './circuit.ts'
import { upstreamUnavailable } from './errors.ts'
import { type Answer, gather } from './gather.ts'
import { spreadLookup } from './spread-lookup.ts'

/** How long a connection may be idle; well below the default of `DRAIN_MS`. */
const idleMs = 2_000

/**
 * How long an answer may take to begin, and then to go on. A little longer than forms and organizations wait for a
 * lock or a majority, so that their own word about it arrives.
 */
const answerMs = 6_000

/** A refused write that took longer is a failure, too: callers shall not wait for more of them. */
const slowMs = 1_000

export interface Question extends Omit<Dispatcher.DispatchOptions, 'origin'> {
  /** Aborts it while there is no answer. */
  signal?: AbortSignal
}

/** A service behind the gateway, with the circuit round it. */
export interface Upstream {
  name: string
  origin: string
  /**
   * @throws {ApiError} UPSTREAM_UNAVAILABLE when it does not answer; whatever it answers is returned. A write may have
   *   been done. OVERLOADED when too many questions have no answer yet, also those of callers who went away.
   */
  request(question: Question): Promise<Answer>
  /** @throws {Error} unless its `/healthz` answers. */
  reach(): Promise<void>
}

/**
 * The connections to all upstreams. Idle ones end here first, and before a service that was told to stop ends them
 * (`DRAIN_MS`): a write that goes out while its connection ends can be repeated by nobody. Busy ones end after a
 * minute, so that an instance that was added gets its share.
 */
export const createAgent = (timeoutMs = answerMs) =>
  new Agent({
    connections: 128,
    pipelining: 1,
    connect: { timeout: 1_000, lookup: spreadLookup() },
    clientTtl: 60_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  })

export const createUpstream = (
  name: string,
  origin: string,
  agent: Agent,
  logger: FastifyBaseLogger,
  maxRequests: number,
): Upstream => {
  const circuit: Circuit = createCircuit(name, logger, maxRequests)
  return {
    name,
    origin,
    async request(question) {
      try {
        return await circuit(async () => {
          const start = performance.now()
          const answer = await sendOnceMore(agent, origin, question)
          return refuseFailure(answer, question, start)
        })
      } catch (error) {
        if (error instanceof FailedAnswer) return error.answer
        if (error instanceof CircuitFull) throw overloaded()
        throw upstreamUnavailable(name, error)
      }
    },
    async reach() {
      const signal = AbortSignal.timeout(1_000)
      const { statusCode } = await gather(agent, { origin, method: 'GET', path: '/healthz' }, signal)
      if (statusCode !== 200) throw new Error(`${name} answers /healthz with ${statusCode}`)
    },
  }
}

/** An answer that says the service cannot work: the caller gets it as it is, the circuit counts it as a failure. */
class FailedAnswer extends Refused {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`answered ${answer.statusCode}`)
    this.answer = answer
  }
}

/** @param start when the question was sent, by `performance.now()`. */
const refuseFailure = (answer: Answer, question: Question, start: number) => {
  // Our own word was not taken. The caller has nothing to do with that, and a 401 would tell it that its key is bad.
  if (answer.headers['www-authenticate'] === 'FmsIdentity') {
    throw new Error('the service refuses the identity token: has it another INTERNAL_SECRET?')
  }
  // It works, and has enough to do: an open circuit would leave it without work.
  if (answer.headers[shedHeader] !== undefined) return answer
  if (![502, 503, 504].includes(answer.statusCode)) return answer
  // A store whose disk is full refuses writes at once and goes on to read: then only a read tells that nothing works.
  const isSlow = performance.now() - start >= slowMs
  if (changesNothing(question) || isSlow) throw new FailedAnswer(answer)
  return answer
}

/** An idle connection may end just when it is used: worth another try where doing it twice changes nothing. */
const sendOnceMore = async (agent: Agent, origin: string, { signal, ...question }: Question) => {
  const request = { origin, ...question }
  try {
    return await gather(agent, request, signal)
  } catch (error) {
    if (!changesNothing(request) || !isDeadConnection(error)) throw error
    return await gather(agent, request, signal)
  }
}

const changesNothing = ({ method, idempotent }: Pick<Question, 'method' | 'idempotent'>) =>
  idempotent ?? (method === 'GET' || method === 'HEAD')

const isDeadConnection = (error: unknown) =>
  error instanceof errors.SocketError || (error as NodeJS.ErrnoException).code === 'ECONNRESET'
