import type { FastifyReply } from 'fastify'

/** Answers with a resource whose JSON text is there already. */
export const sendJson = (reply: Pick<FastifyReply, 'header'>, json: string) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(json)
