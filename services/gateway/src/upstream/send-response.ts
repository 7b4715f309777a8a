import { flowOf, overloaded } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ByteBudget } from '../door/byte-budget.ts'
import { LongBody, maxBufferedBytes, type UpstreamResponse } from './buffering-dispatcher.ts'

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
 * Claims memory for a long response until its caller has read the last byte.
 *
 * @returns false when there is none for the response to a read, which can be repeated. That to a write has the size of a
 *   form, and is sent in any case.
 */
export const claimMemory = (
  { identity, method }: FastifyRequest,
  { raw }: FastifyReply,
  { headers, body }: UpstreamResponse,
  memory: ByteBudget,
): boolean => {
  if (!(body instanceof LongBody) || raw.destroyed) return true
  const bytes = Math.min(Number(headers['content-length'] ?? maxBufferedBytes), maxBufferedBytes)
  const release = memory.tryHold(flowOf(identity), bytes, () => raw.destroy())
  if (release) raw.once('close', release)
  return release !== undefined || method !== 'GET'
}

/** Sends the body of a service's response; the reply already has its head. */
export const sendResponse = (reply: FastifyReply, body: Buffer | LongBody): void => {
  if (reply.statusCode >= 400) reply.header('cache-control', 'no-store')
  // For an empty buffer Fastify sets content-length 0, which is wrong for HEAD and 304.
  reply.send(body instanceof LongBody || body.length > 0 ? body : undefined)
}
