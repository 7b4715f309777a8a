import { Readable } from 'node:stream'
import { Gauge, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Semaphore } from '../limits/semaphore.ts'
import { maxBufferedBytes, maxShortBytes } from './send-buffered.ts'

/** Long responses that may wait for memory, and how long, in milliseconds. */
const maxWaiting = 1_000
const maxWaitMs = 2_000

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
  if (!(body instanceof Readable)) {
    reply.send(body.length > 0 ? body : undefined)
    return
  }
  const bytes = Math.min(Number(reply.getHeader('content-length') ?? maxBufferedBytes), maxBufferedBytes)
  const refuse = (error: unknown) => {
    body.destroy()
    for (const name of ['content-length', 'content-type', 'etag']) reply.removeHeader(name)
    reply.send(error)
  }
  try {
    permit.raise(Math.ceil(bytes / maxShortBytes))
  } catch (error) {
    refuse(error)
    return
  }
  memory.acquire(bytes).then((isAcquired) => {
    if (!isAcquired) return refuse(overloaded())
    buffered.set(memory.held)
    const release = () => {
      memory.release(bytes)
      buffered.set(memory.held)
    }
    if (reply.raw.destroyed) {
      release()
      body.destroy()
    } else {
      reply.raw.once('close', release)
      reply.send(body)
    }
  })
}
