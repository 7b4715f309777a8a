import type { FastifyInstance, FastifyReply } from 'fastify'

/**
 * Marks every response as private to its caller, to be revalidated before reuse (RFC 9111 §5.2.2). Errors replace this
 * with `no-store`.
 */
export const keepResponsesPrivate = (app: FastifyInstance): void => {
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('cache-control', 'private, no-cache')
    addVary(reply, 'x-api-key')
    done()
  })
}

/** Adds a request header to `Vary`: the headers that the response depends on (RFC 9110 §12.5.5). */
export const addVary = (reply: FastifyReply, name: string): void => {
  const names = reply.getHeader('vary')
  reply.header('vary', names === undefined ? name : `${names}, ${name}`)
}
