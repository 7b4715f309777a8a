import type { FastifyInstance } from 'fastify'
import type { ConcurrencyLimits, ConcurrencyPermit } from './concurrency-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Held until the caller has read the whole response, and until every other holder releases it. */
    permit: ConcurrencyPermit
  }
}

/**
 * Bounds the requests of one user, and of one organization, that are in flight: from the end of a request's head to the
 * end of its response. Register it after the hook that sets the caller.
 */
export const limitConcurrency = (app: FastifyInstance, limits: ConcurrencyLimits): void => {
  app.decorateRequest('permit')
  app.addHook('onRequest', (request, reply, done) => {
    // The caller disconnected during the look-up of its key: `close` has fired, so a permit would never be released.
    if (reply.hasEnded) return void reply.hijack()
    const permit = limits.acquire(request.identity)
    request.permit = permit
    reply.raw.once('close', () => permit.release())
    done()
  })
}
