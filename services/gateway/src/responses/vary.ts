import type { FastifyReply } from 'fastify'

/** Adds a request header to those that the response depends on (RFC 9110 §12.5.5). */
export const addVary = (reply: FastifyReply, name: string): void => {
  const names = reply.getHeader('vary')
  reply.header('vary', names === undefined ? name : `${names}, ${name}`)
}
