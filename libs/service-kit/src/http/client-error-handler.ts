import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const statusLines: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** Responds to invalid HTTP with a status and no body, as there is no request id, and closes the connection. */
export const clientErrorHandler = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable && !isResponding(socket)) {
    const statusLine = statusLines[error.code ?? ''] ?? '400 Bad Request'
    socket.write(
      `HTTP/1.1 ${statusLine}\r\nconnection: close\r\ncontent-length: 0\r\nx-content-type-options: nosniff\r\n\r\n`,
    )
  }
  socket.destroy(error)
}

/**
 * Whether the response to an earlier request on the socket is not complete: a client would take the status for that
 * response. Node stores it on the socket for its own error handler.
 */
const isResponding = (
  socket: Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null },
): boolean => {
  const response = socket._httpMessage
  return response != null && (response.headersSent || response.req.complete)
}
