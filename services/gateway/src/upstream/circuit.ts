import { Counter, Gauge } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import CircuitBreaker from 'opossum'

const openBreakers = new Gauge({
  name: 'circuit_open',
  help: 'Callers whose circuit is open: all their requests but a trial a second fail at once',
  labelNames: ['circuit'],
})

const requests = new Counter({
  name: 'circuit_requests_total',
  help: 'Requests through a circuit: success, failure, or reject where they failed at once since it was open',
  labelNames: ['circuit', 'outcome'],
})

/** A failure that took this long counts as silence, in milliseconds. */
const silenceMs = 1_000

/** Callers with a breaker at once; the one that has been idle for longest loses its own. About 7 KiB each. */
const maxBreakers = 1_000

/** A breaker that nothing went through for this long is dropped, in milliseconds. */
const idleMs = 60_000

/** More is under way than the circuit lets through at once. It says nothing about whether actions succeed. */
export class ConcurrencyLimitReached extends Error {}

/** Refused by what was asked, which works so far: no silence, however long it took. */
export class Refused extends Error {}

/** Nobody waits for the action any longer. That is a failure only where there was no answer for too long. */
export class Abandoned extends Error {}

/**
 * Runs an action for a caller. Throws at once while that caller's breaker is open: half of the caller's actions in the
 * last ten seconds failed, or one had no answer for a second or more in which no action of anybody succeeded. An open
 * breaker lets one action through every second, and closes when it succeeds. An action has to end in some way, or an
 * open circuit stays open.
 *
 * @param caller the failures of one open nothing for the others; by default all actions are one caller's.
 * @throws {ConcurrencyLimitReached} at once, where as many are under way as may be; those nobody waits for any longer count.
 */
export type Circuit = <T>(action: () => Promise<T>, caller?: string) => Promise<T>

type Action = () => Promise<unknown>
type Breaker = CircuitBreaker<[Action]>

export const createCircuit = (name: string, logger: FastifyBaseLogger, maxUnderWay: number): Circuit => {
  const breakers = createBreakers(name, logger)
  const successes = requests.labels(name, 'success')
  const failures = requests.labels(name, 'failure')
  const rejects = requests.labels(name, 'reject')
  for (const outcome of [successes, failures, rejects]) outcome.inc(0)
  let lastSuccess = Number.NEGATIVE_INFINITY
  let underWay = 0

  const run = async (action: Action, caller: string) => {
    const start = performance.now()
    const breaker = breakers.find(caller)
    try {
      const result = await (breaker ? breaker.fire(action) : action())
      lastSuccess = performance.now()
      successes.inc()
      return result
    } catch (error) {
      if (isOpenError(error)) rejects.inc()
      else await fail(error, start, breaker, caller)
      throw error
    }
  }

  const fail = async (error: unknown, start: number, counted: Breaker | undefined, caller: string) => {
    // Where there are few requests, five callers would wait for nothing before the share of failures tells.
    const isSilence =
      performance.now() - start >= silenceMs && lastSuccess <= start && !(error instanceof Refused)
    if (error instanceof Abandoned && !isSilence) return
    failures.inc()
    const breaker = counted ?? breakers.of(caller)
    if (!counted) await breaker.fire(() => Promise.reject(error)).catch(() => {})
    if (isSilence) breaker.open()
  }

  return async <T>(action: () => Promise<T>, caller = '') => {
    if (underWay >= maxUnderWay) throw new ConcurrencyLimitReached(`${underWay} requests are under way`)
    underWay++
    try {
      return (await run(action, caller)) as T
    } finally {
      underWay--
    }
  }
}

/** The breakers of callers, each from the caller's first failure on: without one, an action costs a look-up. */
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

  const of = (caller: string): Breaker => {
    const known = breakers.get(caller)
    if (known) return known
    const breaker: Breaker & { isReportedOpen?: boolean } = new CircuitBreaker(
      (action: Action) => action(),
      breakerOptions(circuit),
    )
    const [user, organization] = caller.split(' ')
    // A trial that fails opens it once more, which is no news.
    breaker.on('open', () => {
      if (breaker.isReportedOpen) return
      breaker.isReportedOpen = true
      openBreakers.inc({ circuit })
      logger.warn({ circuit, user, organization }, 'circuit open: its requests fail at once')
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

  return { find: (caller: string): Breaker | undefined => breakers.get(caller), of }
}

const breakerOptions = (name: string): CircuitBreaker.Options => ({
  name,
  timeout: false,
  errorThresholdPercentage: 50,
  volumeThreshold: 5,
  // Longer than any answer takes: a request counts from when it was sent, a failure from when it is known.
  rollingCountTimeout: 10_000,
  rollingCountBuckets: 10,
  resetTimeout: 1_000,
  rollingPercentilesEnabled: false,
  enableSnapshots: false,
})

const isOpenError = (error: unknown) => (error as { code?: unknown }).code === 'EOPENBREAKER'
