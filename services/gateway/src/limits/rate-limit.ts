import type { FastifyInstance } from 'fastify'
import { rateLimited } from '../errors.ts'
import type { FixedWindowCounter } from './fixed-window-counter.ts'

/** Where the requests of keys are counted: here, and in what the other gateways have told. */
export interface KeyCounts {
  counts: FixedWindowCounter
  /** Notes a request that was let through here. */
  add(keyId: string): void
}

/**
 * Bounds how many requests each key sends in a minute, and says on every answer how many are left: the headers
 * RateLimit-Limit, -Remaining and -Reset (seconds) of the IETF draft. Behind the hook that names the caller.
 *
 * @param perMinute 0 takes the limit away.
 */
export const limitRate = (app: FastifyInstance, perMinute: number, { counts, add }: KeyCounts): void => {
  if (perMinute === 0) return

  app.addHook('onRequest', ({ caller: { keyId } }, reply, done) => {
    const window = counts.of(keyId)
    const isWithin = window.count < perMinute
    if (isWithin) add(keyId)
    const resetSeconds = Math.ceil(counts.msLeft(window) / 1000)
    reply.headers({
      'ratelimit-limit': perMinute,
      'ratelimit-remaining': Math.max(0, perMinute - window.count),
      'ratelimit-reset': resetSeconds,
    })
    done(isWithin ? undefined : rateLimited(perMinute, resetSeconds))
  })
}
