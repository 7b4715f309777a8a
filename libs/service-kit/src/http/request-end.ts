import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The status of a request whose caller went away before it had its answer; nginx has it, no caller ever sees it. */
export const clientClosedRequest = 499

declare module 'fastify' {
  interface FastifyReply {
    hasEnded: boolean
  }
}

/** Calls `ended` once for each request: when its answer is out, or else when its caller has gone. */
export const onRequestEnd = (
  app: FastifyInstance,
  ended: (request: FastifyRequest, reply: FastifyReply, status: number) => void,
): void => {
  app.decorateReply('hasEnded', false)
  const end = (request: FastifyRequest, reply: FastifyReply, status: number) => {
    if (reply.hasEnded) return
    reply.hasEnded = true
    ended(request, reply, status)
  }
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify's onResponse never comes where the connection closed first.
    reply.raw.once('close', () => end(request, reply, clientClosedRequest))
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    end(request, reply, reply.statusCode)
    done()
  })
}
