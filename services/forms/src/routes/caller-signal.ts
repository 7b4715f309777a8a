import type { FastifyReply } from 'fastify'

/** Aborts when the connection closes before the response is sent: nobody waits for it any more. */
export const callerSignal = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort()
  })
  return controller.signal
}
