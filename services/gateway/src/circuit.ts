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

/**
 * Runs an action, unless half of those in the last seconds failed: then it throws at once, and lets one through every
 * second to see whether they succeed again. An action has to end in some way, or an open circuit stays open.
 */
export type Circuit = <T>(action: () => Promise<T>) => Promise<T>

export const createCircuit = (name: string, logger: FastifyBaseLogger): Circuit => {
  const breaker = new CircuitBreaker((action: () => Promise<unknown>) => action(), {
    name,
    timeout: false,
    errorThresholdPercentage: 50,
    volumeThreshold: 5,
    rollingCountTimeout: 5_000,
    rollingCountBuckets: 5,
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
  breaker.on('success', () => count('success'))
  breaker.on('failure', () => count('failure'))
  breaker.on('reject', () => count('reject'))
  return <T>(action: () => Promise<T>) => breaker.fire(action) as Promise<T>
}
