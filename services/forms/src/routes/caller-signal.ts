import type { FastifyReply } from 'fastify'

/** One for all, since Node would make an error with its stack for each. */
const closed = new DOMException('The response is sent, or its connection closed before', 'AbortError')

/**
 * Aborts when nobody needs the result any more: the response is sent, or the connection closed before. A store that
 * reads large pages keeps their place until then, so that few of them are in memory at once.
 */
export const callerSignal = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  raw.once('close', () => controller.abort(closed))
  return controller.signal
}
