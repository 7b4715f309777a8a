import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConcurrencyPermit } from '../limits/concurrency-limits.ts'
import { Semaphore } from '../limits/semaphore.ts'
import { maxBufferedBytes, maxShortBytes } from './buffering-dispatcher.ts'

/** Long responses that may wait for memory, and how long, in milliseconds. */
const maxWaiting = 1_000
const maxWaitMs = 2_000

/** Between two looks at whether the responses of a user leave room for one more, in milliseconds. */
const retryMs = 50

const buffered = new Gauge({
  name: 'response_bytes_buffered',
  help: 'Bytes of long responses that their callers have not taken to the end',
})

/** Memory of the process for long responses, in bytes of their bodies. */
export type ResponseMemory = Semaphore

/** @param maxBytes at least {@link maxBufferedBytes}. */
export const createResponseMemory = (maxBytes: number): ResponseMemory =>
  new Semaphore({ max: maxBytes, maxWaiting, maxWaitMs })

/**
 * Sends the body of a service's response, whose head the reply has. A short one is sent as it is. A long one counts as
 * several requests, one for each 256 KiB, and its bytes count towards the process's memory, until its caller has it.
 */
export const sendResponse = (
  { permit }: FastifyRequest,
  reply: FastifyReply,
  body: Buffer | Readable,
  memory: ResponseMemory,
): void => {
  // Of no bytes at all Fastify would tell the length, and to HEAD or with a 304 it is that of another body.
  if (body instanceof Readable) void sendLong(permit, reply, body, memory)
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
    await raise(permit, Math.ceil(bytes / maxShortBytes), reply)
    if (!(await memory.acquire(bytes))) throw overloaded()
  } catch (error) {
    body.destroy()
    for (const name of ['content-length', 'content-type', 'etag']) reply.removeHeader(name)
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
 * Waits while the long responses of its user or organization leave no room. The service keeps the body meanwhile, so
 * that a caller who repeats what was refused does not have it read again and again.
 *
 * @throws {ApiError} TOO_MANY_AT_ONCE after two seconds.
 */
const raise = async (permit: ConcurrencyPermit, units: number, { raw }: FastifyReply): Promise<void> => {
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
