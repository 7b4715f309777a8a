import { replayedHeader } from '@fms/contracts'
import { flowOf, Gauge, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ByteBudget } from '../door/byte-budget.ts'
import { LongBody, maxBufferedBytes, type UpstreamResponse } from './buffering-dispatcher.ts'

const buffered = new Gauge({
  name: 'response_bytes_buffered',
  help: 'Bytes of long responses that their callers have not read to the end',
})

/** The process's memory for long responses, in bytes of their bodies. @param maxBytes at least {@link maxBufferedBytes}. */
export const createResponseMemory = (maxBytes: number): ByteBudget =>
  new ByteBudget(maxBytes, maxBufferedBytes)

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

/** Holds the memory of a response until its caller has read the last byte. */
const holdUntilRead = ({ raw }: FastifyReply, memory: ByteBudget, release: () => void): void => {
  buffered.set(memory.held)
  raw.once('close', () => {
    release()
    buffered.set(memory.held)
  })
}

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
  holdUntilRead(reply, memory, release)
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
    if (release) holdUntilRead(reply, memory, release)
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
