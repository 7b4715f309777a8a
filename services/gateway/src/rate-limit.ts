import type { FastifyInstance } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { rateLimited } from './errors.ts'

const windowSeconds = 60

/**
 * Bounds how many requests each key sends in a minute, and says on every answer how many are left: the headers
 * RateLimit-Limit, -Remaining and -Reset (seconds) of the IETF draft. Behind the hook that names the caller.
 *
 * @param perMinute 0 takes the limit away.
 */
export const limitRate = (app: FastifyInstance, perMinute: number): void => {
  if (perMinute === 0) return
  const limiter = new RateLimiterMemory({ points: perMinute, duration: windowSeconds })

  app.addHook('onRequest', async ({ caller }, reply) => {
    const { remainingPoints, msBeforeNext, consumedPoints } = await limiter
      .consume(caller.keyId)
      .catch((refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return refusal
        throw refusal
      })
    const resetSeconds = Math.ceil(msBeforeNext / 1000)
    reply.headers({
      'ratelimit-limit': perMinute,
      'ratelimit-remaining': remainingPoints,
      'ratelimit-reset': resetSeconds,
    })
    if (consumedPoints > perMinute) throw rateLimited(perMinute, resetSeconds)
  })
}
