import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The status of a request whose client disconnected before the response (nginx's 499). It is never sent. */
export const clientClosedRequest = 499

declare module 'fastify' {
  interface FastifyReply {
    /** Whether the response is sent, or the client has disconnected. */
    hasEnded: boolean
    /** Called when the client disconnects before its response. */
    onDisconnect: (() => void) | undefined
    /**
     * Ends the request while its response continues: an event stream counts, in metrics, logs and limits, until its head
     * is sent.
     */
    endRequest(): void
  }
}

/**
 * Calls `ended` once for each request: when its response is sent, when its client disconnects before that, or at
 * `endRequest`.
 */
export const onRequestEnd = (
  app: FastifyInstance,
  ended: (request: FastifyRequest, reply: FastifyReply, status: number) => void,
): void => {
  app.decorateReply('hasEnded', false)
  app.decorateReply('onDisconnect', undefined)
  const end = (request: FastifyRequest, reply: FastifyReply, status: number) => {
    if (reply.hasEnded) return
    reply.hasEnded = true
    ended(request, reply, status)
  }
  app.decorateReply('endRequest', function (this: FastifyReply) {
    end(this.request, this, this.raw.statusCode)
  })
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify does not call onResponse when the connection closes first.
    reply.raw.once('close', () => {
      end(request, reply, clientClosedRequest)
      reply.onDisconnect?.()
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    end(request, reply, reply.statusCode)
    done()
  })
}
