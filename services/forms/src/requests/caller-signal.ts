import type { FastifyReply } from 'fastify'

/** Shared, because Node would otherwise create an error with a stack for each signal. */
const closed = new DOMException('The response is sent, or its connection closed before', 'AbortError')

/** Aborts when the response is sent or the connection is closed. */
export const callerSignal = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  raw.once('close', () => controller.abort(closed))
  return controller.signal
}
