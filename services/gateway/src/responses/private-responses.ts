import type { FastifyInstance } from 'fastify'
import { addVary } from './vary.ts'

/**
 * Marks each response as one for its caller alone, which is validated before it is used again (RFC 9111 §5.2.2).
 * Whatever sends an error replaces this by `no-store`.
 */
export const keepResponsesPrivate = (app: FastifyInstance): void => {
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('cache-control', 'private, no-cache')
    addVary(reply, 'x-api-key')
    done()
  })
}
