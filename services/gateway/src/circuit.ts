import type { FastifyBaseLogger } from 'fastify'
import CircuitBreaker from 'opossum'

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
  breaker.on('open', () => logger.warn({ circuit: name }, 'circuit open: its requests fail at once'))
  breaker.on('close', () => logger.info({ circuit: name }, 'circuit closed: its requests succeed again'))
  return <T>(action: () => Promise<T>) => breaker.fire(action) as Promise<T>
}
