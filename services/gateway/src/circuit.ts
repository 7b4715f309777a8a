import { Counter, Gauge } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import CircuitBreaker from 'opossum'

const isOpen = new Gauge({
  name: 'circuit_open',
  help: '1 while a circuit is open: all but a trial a second fail at once',
  labelNames: ['circuit'],
})

const requests = new Counter({
  name: 'circuit_requests_total',
  help: 'Requests through a circuit: success, failure, or reject where they failed at once since it was open',
  labelNames: ['circuit', 'outcome'],
})

/** So long a failure may take before it counts as silence, in milliseconds. */
const silenceMs = 1_000

/** More is under way than the circuit lets through at once. It says nothing about whether actions succeed. */
export class CircuitFull extends Error {}

/** Refused by what was asked, which works so far: no silence, however long it took. */
export class Refused extends Error {}

/**
 * Runs an action, unless half of those in the last seconds failed, or one had no answer for a second or more in which
 * no other succeeded: then it throws at once, and lets one through every second to see whether they succeed again. An
 * action has to end in some way, or an open circuit stays open.
 *
 * @throws {CircuitFull} at once, where as many are under way as may be; those nobody waits for any longer count.
 */
export type Circuit = <T>(action: () => Promise<T>) => Promise<T>

export const createCircuit = (name: string, logger: FastifyBaseLogger, maxUnderWay: number): Circuit => {
  const breaker = new CircuitBreaker((action: () => Promise<unknown>) => action(), {
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
  isOpen.set({ circuit: name }, 0)
  breaker.on('open', () => {
    isOpen.set({ circuit: name }, 1)
    logger.warn({ circuit: name }, 'circuit open: its requests fail at once')
  })
  breaker.on('close', () => {
    isOpen.set({ circuit: name }, 0)
    logger.info({ circuit: name }, 'circuit closed: its requests succeed again')
  })
  const count = (outcome: string, requestCount = 1) => requests.inc({ circuit: name, outcome }, requestCount)
  for (const outcome of ['success', 'failure', 'reject']) count(outcome, 0)
  let lastSuccess = Number.NEGATIVE_INFINITY
  breaker.on('success', () => {
    lastSuccess = performance.now()
    count('success')
  })
  breaker.on('failure', (error, latencyMs) => {
    count('failure')
    const isSilence = latencyMs >= silenceMs && !(error instanceof Refused)
    // Where little is asked, five callers would wait for nothing before the share of failures tells.
    if (isSilence && performance.now() - lastSuccess >= latencyMs) breaker.open()
  })
  breaker.on('reject', () => count('reject'))
  let underWay = 0
  return async <T>(action: () => Promise<T>) => {
    if (underWay >= maxUnderWay) throw new CircuitFull(`${underWay} requests are under way`)
    underWay++
    try {
      return (await breaker.fire(action)) as T
    } finally {
      underWay--
    }
  }
}
