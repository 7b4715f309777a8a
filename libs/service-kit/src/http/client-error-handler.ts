import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requestTimeout } from './errors.ts'

/** Node stores the response that is being sent on its socket, for its own error handler. */
type ResponseSocket = Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }

const statusLines: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/**
 * Responds to invalid HTTP with a status and no body, as there is no request id, and closes the connection. A body that
 * takes too long is an error of its request.
 */
export const clientErrorHandler = (error: Error & { code?: string }, socket: ResponseSocket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable && !isResponding(socket)) {
    const request = socket._httpMessage?.req
    // Fastify listens while it reads the body, and responds.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && request?.listenerCount('error'))
      return void request.emit('error', requestTimeout())
    const statusLine = statusLines[error.code ?? ''] ?? '400 Bad Request'
    socket.write(
      `HTTP/1.1 ${statusLine}\r\nconnection: close\r\ncontent-length: 0\r\nx-content-type-options: nosniff\r\n\r\n`,
    )
  }
  socket.destroy(error)
}

/** Whether the response to an earlier request is not complete: a client would take the status for that response. */
const isResponding = ({ _httpMessage: response }: ResponseSocket): boolean =>
  response != null && (response.headersSent || response.req.complete)
