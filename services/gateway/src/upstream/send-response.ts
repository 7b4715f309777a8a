import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { replayedHeader } from '@fms/contracts'
import { Gauge, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConcurrencyPermit } from '../limits/concurrency-limits.ts'
import { Semaphore } from '../limits/semaphore.ts'
import { maxBufferedBytes, maxShortBytes } from './buffering-dispatcher.ts'

/** Long responses that may wait for memory. */
const maxWaiting = 1_000
/** How long one may wait, in milliseconds. */
const maxWaitMs = 2_000

/** Interval between two attempts to raise a permit, in milliseconds. */
const retryMs = 50

const buffered = new Gauge({
  name: 'response_bytes_buffered',
  help: 'Bytes of long responses that their callers have not read to the end',
})

/** The process's memory for long responses, in bytes of their bodies. */
export type ResponseMemory = Semaphore

/** @param maxBytes at least {@link maxBufferedBytes}. */
export const createResponseMemory = (maxBytes: number): ResponseMemory =>
  new Semaphore({ max: maxBytes, maxWaiting, maxWaitMs })

/**
 * Sends the body of a service's response; the reply already has its head. A short body is sent as it is. Until its
 * caller has read it, a long one counts as one request for each 256 KiB, and its bytes count towards the memory.
 */
export const sendResponse = (
  { permit }: FastifyRequest,
  reply: FastifyReply,
  body: Buffer | Readable,
  memory: ResponseMemory,
): void => {
  if (body instanceof Readable) void sendLong(permit, reply, body, memory)
  // For an empty buffer Fastify sets content-length 0, which is wrong for HEAD and 304.
  else reply.send(body.length > 0 ? body : undefined)
}

const sendLong = async (
  permit: ConcurrencyPermit,
  reply: FastifyReply,
  body: Readable,
  memory: ResponseMemory,
): Promise<void> => {
  const bytes = Math.min(Number(reply.getHeader('content-length') ?? maxBufferedBytes), maxBufferedBytes)
  try {
    await raisePermit(permit, Math.ceil(bytes / maxShortBytes), reply)
    if (!(await memory.acquire(bytes))) throw overloaded()
  } catch (error) {
    body.destroy()
    for (const name of ['content-length', 'content-type', 'etag', replayedHeader]) reply.removeHeader(name)
    reply.send(error)
    return
  }
  const release = () => {
    memory.release(bytes)
    buffered.set(memory.held)
  }
  buffered.set(memory.held)
  if (reply.raw.destroyed) {
    release()
    body.destroy()
  } else {
    reply.raw.once('close', release)
    reply.send(body)
  }
}

/**
 * Raises the permit, retrying while the user or organization has too many long responses. The body waits meanwhile: an
 * immediate 429 would make callers repeat the request, and the service read the same pages again.
 *
 * @throws {ApiError} TOO_MANY_AT_ONCE after two seconds.
 */
const raisePermit = async (
  permit: ConcurrencyPermit,
  units: number,
  { raw }: FastifyReply,
): Promise<void> => {
  const deadline = performance.now() + maxWaitMs
  for (;;) {
    try {
      permit.raise(units)
      return
    } catch (error) {
      if (performance.now() > deadline || raw.destroyed) throw error
      await delay(retryMs)
    }
  }
}
