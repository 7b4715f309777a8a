import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '@fms/aip'
import { lastResponse } from './error-handler.ts'
import { headTooLarge, malformedRequest, requestTimeout } from './errors.ts'
import { requestIdOf } from './observe-requests.ts'

/** Node stores on its socket the response that is being sent, and the parser with the request that it read last. */
type ClientSocket = Socket & {
  _httpMessage?: ServerResponse<IncomingMessage> | null
  parser?: { incoming: IncomingMessage | null } | null
}

const errors: Record<string, (cause: unknown) => ApiError> = {
  ERR_HTTP_REQUEST_TIMEOUT: requestTimeout,
  HPE_HEADER_OVERFLOW: headTooLarge,
}

/**
 * Responds to invalid HTTP, and closes the connection, after the response to an earlier request that is being prepared. An
 * invalid body is an error of its request.
 */
export const clientErrorHandler = (error: Error & { code?: string }, socket: ClientSocket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const { _httpMessage: response, parser } = socket
  const request = parser?.incoming?.complete === false ? parser.incoming : undefined
  const failure = (errors[error.code ?? ''] ?? malformedRequest)(error)
  // A client that ends the connection within a request has disconnected, almost surely.
  if (response && !response.headersSent && error.code !== 'HPE_INVALID_EOF_STATE') {
    response.shouldKeepAlive = false
    if (response.req !== request) return
    // Fastify listens while it reads the body, and responds.
    if (request.listenerCount('error')) return void request.emit('error', failure)
  }
  // Otherwise, a client would take the error for the response to an earlier request.
  const isNext = response ? response.req === request && !response.headersSent : !request
  if (socket.writable && isNext)
    socket.write(lastResponse(failure, requestIdOf(request ?? { headers: {} }), request?.method))
  socket.destroy(error)
}
