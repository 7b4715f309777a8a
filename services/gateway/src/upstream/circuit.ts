import { Counter, Gauge } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import CircuitBreaker from 'opossum'

const openBreakers = new Gauge({
  name: 'circuit_open',
  help: 'Callers whose circuit is open: all their requests but one trial a second fail immediately',
  labelNames: ['circuit'],
})

const requests = new Counter({
  name: 'circuit_requests_total',
  help: 'Requests through a circuit: success, failure, or reject for those that an open circuit fails immediately',
  labelNames: ['circuit', 'outcome'],
})

/** Duration from which a failure counts as a timeout, in milliseconds. */
const timeoutMs = 1_000

/** Breakers in memory, about 7 KiB each; beyond that the least recently used one is evicted. */
const maxBreakers = 1_000

/** Idle time after which a breaker is evicted, in milliseconds. */
const idleMs = 60_000

/** The circuit has its maximum of actions in flight. Does not count as a failure. */
export class ConcurrencyLimitReached extends Error {}

/** The upstream responded with a failure. Does not count as a timeout, whatever its duration. */
export class UpstreamFailure extends Error {}

/** The caller disconnected. Counts as a failure only after {@link timeoutMs}. */
export class Abandoned extends Error {}

/**
 * Runs an action through the caller's circuit breaker, which throws immediately while it is open. It opens when half of
 * the caller's actions in the last ten seconds failed, or when one timed out, after a second or more in which no action
 * of any caller succeeded. An open breaker lets one action through every second and closes when it succeeds. An action
 * has to settle, or an open breaker stays open.
 *
 * @param caller the key of a breaker; by default all actions share one.
 * @throws {ConcurrencyLimitReached} immediately, when the maximum is in flight. Actions of callers who disconnected
 *   count until they settle.
 */
export type Circuit = <T>(action: () => Promise<T>, caller?: string) => Promise<T>

type Action = () => Promise<unknown>
type Breaker = CircuitBreaker<[Action]>

/** @param maxInFlight actions of all callers. */
export const createCircuit = (name: string, logger: FastifyBaseLogger, maxInFlight: number): Circuit => {
  const breakers = createBreakers(name, logger)
  const successes = requests.labels(name, 'success')
  const failures = requests.labels(name, 'failure')
  const rejects = requests.labels(name, 'reject')
  for (const outcome of [successes, failures, rejects]) outcome.inc(0)
  let lastSuccess = Number.NEGATIVE_INFINITY
  let inFlight = 0

  const run = async (action: Action, caller: string) => {
    const start = performance.now()
    const breaker = breakers.get(caller)
    try {
      const result = await (breaker ? breaker.fire(action) : action())
      lastSuccess = performance.now()
      successes.inc()
      return result
    } catch (error) {
      if (isOpenError(error)) rejects.inc()
      else await recordFailure(error, start, breaker, caller)
      throw error
    }
  }

  const recordFailure = async (
    error: unknown,
    start: number,
    counted: Breaker | undefined,
    caller: string,
  ) => {
    // At a low rate of requests, five of them would time out before the breaker opens by the share of failures.
    const isTimeout =
      performance.now() - start >= timeoutMs && lastSuccess <= start && !(error instanceof UpstreamFailure)
    if (error instanceof Abandoned && !isTimeout) return
    failures.inc()
    const breaker = counted ?? breakers.getOrCreate(caller)
    if (!counted) await breaker.fire(() => Promise.reject(error)).catch(() => {})
    if (isTimeout) breaker.open()
  }

  return async <T>(action: () => Promise<T>, caller = '') => {
    if (inFlight >= maxInFlight) throw new ConcurrencyLimitReached(`${inFlight} requests are in flight`)
    inFlight++
    try {
      return (await run(action, caller)) as T
    } finally {
      inFlight--
    }
  }
}

/** One breaker for each caller, created at its first failure. Without a breaker an action costs one look-up. */
const createBreakers = (circuit: string, logger: FastifyBaseLogger) => {
  openBreakers.set({ circuit }, 0)
  const breakers = new LRUCache<string, Breaker & { isReportedOpen?: boolean }>({
    max: maxBreakers,
    ttl: idleMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (breaker) => {
      if (breaker.isReportedOpen) openBreakers.dec({ circuit })
      breaker.shutdown()
    },
  })

  const getOrCreate = (caller: string): Breaker => {
    const existing = breakers.get(caller)
    if (existing) return existing
    const breaker: Breaker & { isReportedOpen?: boolean } = new CircuitBreaker(
      (action: Action) => action(),
      breakerOptions(circuit),
    )
    const [user, organization] = caller.split(' ')
    // `open` is also emitted after each failed trial; only the first is reported.
    breaker.on('open', () => {
      if (breaker.isReportedOpen) return
      breaker.isReportedOpen = true
      openBreakers.inc({ circuit })
      logger.warn({ circuit, user, organization }, 'circuit open: its requests fail immediately')
    })
    breaker.on('close', () => {
      if (!breaker.isReportedOpen) return
      breaker.isReportedOpen = false
      openBreakers.dec({ circuit })
      logger.info({ circuit, user, organization }, 'circuit closed: its requests succeed again')
    })
    breakers.set(caller, breaker)
    return breaker
  }

  return { get: (caller: string): Breaker | undefined => breakers.get(caller), getOrCreate }
}

const breakerOptions = (name: string): CircuitBreaker.Options => ({
  name,
  timeout: false,
  errorThresholdPercentage: 50,
  volumeThreshold: 5,
  // Longer than any response takes: a request counts when it is sent, a failure when it is known.
  rollingCountTimeout: 10_000,
  rollingCountBuckets: 10,
  resetTimeout: 1_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
})

const isOpenError = (error: unknown) => (error as { code?: unknown }).code === 'EOPENBREAKER'
