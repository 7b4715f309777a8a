import { pipeline, Readable, Transform } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const newline = Buffer.from('\n')

/**
 * Appends a newline to JSON bodies when the client is curl, so that the shell's prompt starts on a new line. JSON
 * allows it (RFC 8259 §2). Other clients get the body unchanged.
 */
export const endWithNewline = (app: FastifyInstance): void => {
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    const withNewline = isForCurl(request, reply) ? append(payload) : undefined
    if (withNewline === undefined) return done(null, payload)
    const length = Number(reply.getHeader('content-length'))
    if (length > 0) reply.header('content-length', length + newline.length)
    done(null, withNewline)
  })
}

const isForCurl = ({ method, headers }: FastifyRequest, reply: FastifyReply): boolean =>
  headers['user-agent']?.startsWith('curl/') === true &&
  method !== 'HEAD' &&
  String(reply.getHeader('content-type')).startsWith('application/json') &&
  reply.getHeader('content-encoding') === undefined

/** @returns undefined for an empty body. */
const append = (payload: unknown): string | Buffer | Readable | undefined => {
  if (typeof payload === 'string') return `${payload}\n`
  if (Buffer.isBuffer(payload)) return Buffer.concat([payload, newline])
  return payload instanceof Readable ? appendToStream(payload) : undefined
}

const appendToStream = (body: Readable): Readable => {
  const appended = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => done(null, newline),
  })
  // `pipeline` destroys both streams on an error; the consumer of `appended` gets the error.
  pipeline(body, appended, () => {})
  return appended
}
