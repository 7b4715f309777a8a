import { replayedHeader } from '@fms/contracts'
import { flowOf, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteBudget } from '../door/byte-budget.ts'
import { LongBody, maxBufferedBytes, type UpstreamResponse } from './buffering-dispatcher.ts'

/** The complete list of forwarded response headers. Responses without `cache-control` get that of the gateway. */
const forwardedHeaders = [
  'cache-control',
  'content-type',
  'content-length',
  'etag',
  'retry-after',
  'www-authenticate',
  replayedHeader,
]

/**
 * Reserves memory for the response to a read before a service works on it.
 *
 * @throws {ApiError} OVERLOADED when there is none in time.
 */
export const reserveMemory = async (
  { identity }: FastifyRequest,
  reply: FastifyReply,
  memory: ByteBudget,
): Promise<void> => {
  const release = await memory.hold(flowOf(identity), maxBufferedBytes, () => reply.raw.destroy(), reply)
  if (!release) throw overloaded()
  reply.raw.once('close', release)
}

/**
 * Sends a service's response.
 *
 * @param isReserved whether there is memory for a long one already. If not, its bytes count from here on.
 * @returns a promise of whether it is sent, once the service has no more to do for it; false when there is no memory, and
 *   the response is dropped.
 */
export const sendResponse = async (
  { identity, method }: FastifyRequest,
  reply: FastifyReply,
  { statusCode, headers, body }: UpstreamResponse,
  memory: ByteBudget,
  isReserved: boolean,
): Promise<boolean> => {
  const { raw } = reply
  if (body instanceof LongBody && !isReserved && !raw.destroyed) {
    const bytes = Math.min(Number(headers['content-length'] ?? maxBufferedBytes), maxBufferedBytes)
    const release = memory.tryHold(flowOf(identity), bytes, () => raw.destroy())
    // A write cannot be repeated. Its response has the size of a form, and is sent in any case.
    if (!release && method === 'GET') {
      body.destroy()
      return false
    }
    if (release) raw.once('close', release)
  }
  if (raw.destroyed) {
    if (body instanceof LongBody) body.destroy()
    return true
  }
  reply.code(statusCode)
  for (const name of forwardedHeaders) if (headers[name] !== undefined) reply.header(name, headers[name])
  if (statusCode >= 400) reply.header('cache-control', 'no-store')
  // For an empty buffer Fastify sets content-length 0, which is wrong for HEAD and 304.
  reply.send(body instanceof LongBody || body.length > 0 ? body : undefined)
  if (body instanceof LongBody) await body.received
  return true
}
