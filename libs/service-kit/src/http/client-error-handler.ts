import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const statusLines: Record<string, string> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/**
 * Answers what never became a request (bad chunks, a head that is too long or too slow) with a status alone and ends
 * the connection. There is no request id to tell, and a body of another shape than all others would help nobody.
 */
export const clientErrorHandler = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable && !isAnswering(socket)) {
    const statusLine = statusLines[error.code ?? ''] ?? '400 Bad Request'
    socket.write(`HTTP/1.1 ${statusLine}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  }
  socket.destroy(error)
}

/**
 * Whether an answer has begun, or is still to come for a request that is whole: what is broken stands behind it, and
 * whoever counts answers would take ours for that one. Node keeps the answer there for its own handler.
 */
const isAnswering = (socket: Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }): boolean => {
  const answer = socket._httpMessage
  return answer != null && (answer.headersSent || answer.req.complete)
}
