import type { FastifyInstance } from 'fastify'
import type { ConcurrencyLimits, ConcurrencyPermit } from './concurrency-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Held until the response has ended, unread bytes included, and whatever else retains it. */
    permit: ConcurrencyPermit
  }
}

/**
 * Bounds how many requests of one user, and of one organization, are in flight at once: from the end of a request's head
 * to the end of its response. Behind the hook that names the caller.
 */
export const limitConcurrency = (app: FastifyInstance, limits: ConcurrencyLimits): void => {
  app.decorateRequest('permit')
  app.addHook('onRequest', (request, reply, done) => {
    // The caller went away while its key was looked up. Nothing is done for it that could not be counted.
    if (reply.hasEnded) return void reply.hijack()
    const permit = limits.acquire(request.identity)
    request.permit = permit
    reply.raw.once('close', () => permit.release())
    done()
  })
}
