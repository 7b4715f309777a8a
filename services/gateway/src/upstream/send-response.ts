import { setImmediate } from 'node:timers/promises'
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

/**
 * Reserves memory for the response to a read before a service works on it, if an earlier response of the user waits for
 * memory: else a service would work for responses that nobody reads.
 *
 * @returns the function that releases it; undefined when none is needed.
 * @throws {ApiError} OVERLOADED when there is none in time.
 */
export const reserveMemory = async (
  { method, identity }: FastifyRequest,
  reply: FastifyReply,
  memory: ByteBudget,
): Promise<(() => void) | undefined> => {
  const flow = flowOf(identity)
  if (method !== 'GET' || !memory.isAwaitedBy(flow)) return undefined
  const release = await memory.hold(flow, maxBufferedBytes, () => reply.raw.destroy(), reply)
  if (!release) throw overloaded()
  reply.raw.once('close', release)
  return release
}

/**
 * Sends a service's response: a short body at once, a long one when there is memory for it.
 *
 * @param reserved releases memory that is held for it already.
 * @returns a promise that settles when the service has no more to do for it.
 */
export const sendResponse = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { statusCode, headers, body }: UpstreamResponse,
  memory: ByteBudget,
  reserved?: () => void,
): Promise<void> => {
  if (reply.raw.destroyed) {
    if (body instanceof LongBody) body.destroy()
    return
  }
  reply.code(statusCode)
  for (const name of forwardedHeaders) if (headers[name] !== undefined) reply.header(name, headers[name])
  if (statusCode >= 400) reply.header('cache-control', 'no-store')
  if (body instanceof LongBody && !reserved) return sendLong(request, reply, body, memory)
  if (body instanceof LongBody) {
    reply.send(body)
    return body.received
  }
  reserved?.()
  // For an empty buffer Fastify sets content-length 0, which is wrong for HEAD and 304.
  reply.send(body.length > 0 ? body : undefined)
}

/** Sends a long body. Its bytes count towards the memory until its caller has read the last one. */
const sendLong = async (
  { identity }: FastifyRequest,
  reply: FastifyReply,
  body: LongBody,
  memory: ByteBudget,
): Promise<void> => {
  const { raw } = reply
  const bytes = Math.min(Number(reply.getHeader('content-length') ?? maxBufferedBytes), maxBufferedBytes)
  const holding = memory.hold(flowOf(identity), bytes, () => raw.destroy(), reply)
  const sent = holding.then((release) => {
    buffered.set(memory.held)
    if (release && !raw.destroyed) {
      raw.once('close', () => {
        release()
        buffered.set(memory.held)
      })
      reply.send(body)
      return
    }
    release?.()
    body.destroy()
    if (raw.destroyed) return
    for (const name of ['content-length', 'content-type', 'etag', replayedHeader]) reply.removeHeader(name)
    reply.send(overloaded())
  })
  // While it waits for memory, it holds no place of the service.
  const isFree = await Promise.race([sent.then(() => true), setImmediate(false)])
  if (isFree) await body.received
}
