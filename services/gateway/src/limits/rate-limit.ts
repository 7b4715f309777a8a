import type { FastifyInstance } from 'fastify'
import { rateLimited } from '../errors.ts'
import type { FixedWindowCounter } from './fixed-window-counter.ts'

/** The request counts of keys, in this gateway and as received from the others. */
export interface KeyCounts {
  counts: FixedWindowCounter
  /** Counts a request that this gateway lets through. */
  add(keyId: string): void
}

/**
 * Limits the requests of each key per minute. Every response to a known key has the headers RateLimit-Limit, -Remaining
 * and -Reset (seconds) of the IETF draft. Register it after the hook that sets the caller.
 *
 * @param perMinute 0 lifts the limit.
 */
export const limitRate = (app: FastifyInstance, perMinute: number, { counts, add }: KeyCounts): void => {
  if (perMinute === 0) return

  app.addHook('onRequest', ({ caller: { keyId } }, reply, done) => {
    const window = counts.of(keyId)
    const isWithinLimit = window.count < perMinute
    if (isWithinLimit) add(keyId)
    const resetSeconds = Math.ceil(counts.msLeft(window) / 1000)
    reply.headers({
      'ratelimit-limit': perMinute,
      'ratelimit-remaining': Math.max(0, perMinute - window.count),
      'ratelimit-reset': resetSeconds,
    })
    done(isWithinLimit ? undefined : rateLimited(perMinute, resetSeconds))
  })
}
