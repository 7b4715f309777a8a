import { Counter, Gauge } from '@fms/service-kit'
import type { FastifyBaseLogger } from 'fastify'
import CircuitBreaker from 'opossum'

const openCircuits = new Gauge({
  name: 'circuit_open',
  help: '1 while the circuit is open: all requests but one trial a second fail immediately',
  labelNames: ['circuit'],
})

const requests = new Counter({
  name: 'circuit_requests_total',
  help: 'Requests through a circuit: success, failure, or reject for those that an open circuit fails immediately',
  labelNames: ['circuit', 'outcome'],
})

/** Duration of a failure that opens a circuit on its own, in milliseconds: a timeout. */
const timeoutMs = 1_000

type IsFailure = (error: unknown) => boolean

type Action<T> = (isTrial: boolean) => Promise<T>

/**
 * Runs an action through an upstream's circuit breaker; while open, it throws at once ({@link isOpenError}). Opens when
 * more than half of ten seconds' requests, at least five, failed, or one that took a second in which nothing succeeded.
 * Then one request in a second is a trial, whose success closes it. An action has to settle, or an open circuit stays
 * open.
 *
 * @param isFailure whether an error is one of the upstream. Others neither open nor close the circuit.
 */
export type Circuit = <T>(action: Action<T>, isFailure?: IsFailure) => Promise<T>

/** Whether an open circuit has thrown the error. */
export const isOpenError = (error: unknown) => error instanceof Error && CircuitBreaker.isOurError(error)

export const createCircuit = (circuit: string, logger: FastifyBaseLogger): Circuit => {
  const [successes, failures, rejects] = ['success', 'failure', 'reject'].map((outcome) => {
    requests.inc({ circuit, outcome }, 0)
    return requests.labels(circuit, outcome)
  })
  let lastSuccess = Number.NEGATIVE_INFINITY
  let isReportedOpen = false
  let err: unknown

  const run = async (action: Action<unknown>, _isFailure?: IsFailure) => {
    const result = await action(breaker.halfOpen)
    lastSuccess = performance.now()
    successes!.inc()
    return result
  }
  const report = (isOpen: boolean) => {
    openCircuits.set({ circuit }, isOpen ? 1 : 0)
    isReportedOpen = isOpen
  }
  report(false)

  const breaker = new CircuitBreaker(run, {
    timeout: false,
    volumeThreshold: 5,
    resetTimeout: 1_000,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    errorFilter(error, ...[, isFailure]: Parameters<typeof run> | []) {
      if (!isFailure || isFailure(error)) return false
      // The breaker counts the error as a success. A trial that ends with it is repeated a second later.
      if (breaker.halfOpen) breaker.open()
      return true
    },
  })
  breaker.on('reject', () => rejects!.inc())
  breaker.on('failure', (error, latencyMs) => {
    failures!.inc()
    err = error
    if (latencyMs >= timeoutMs && lastSuccess <= performance.now() - latencyMs) breaker.open()
  })
  // `open` is emitted after each failed trial as well.
  breaker.on('open', () => {
    if (!isReportedOpen)
      logger.warn({ circuit, cause: String(err) }, 'circuit open: its requests fail immediately')
    report(true)
  })
  breaker.on('close', () => {
    logger.info({ circuit }, 'circuit closed: its requests succeed again')
    report(false)
  })
  return (action, isFailure) => breaker.fire(action, isFailure) as never
}
