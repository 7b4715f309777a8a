import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, preParsingHookHandler } from 'fastify'
import { malformedRequest, unsupportedMediaType } from './errors.ts'

/**
 * Rejects requests that Node accepts but that a proxy may interpret differently (request smuggling, RFC 9112 §11.2):
 * two Host headers (RFC 9112 §3.2), a version of HTTP other than 1.x, and bodies with a content coding, which services
 * do not decode (RFC 9110 §8.4).
 */
export const rejectSmuggling = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor !== 1)
      throw malformedRequest(new Error(`HTTP/${raw.httpVersion} in a request line`))
    if (hasTwoHosts(raw)) throw malformedRequest(new Error('more than one Host header'))
    done()
  })
  // Node would respond with 417 and no body. Servers may ignore unknown expectations (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // A hook of the route runs after those of its scopes, which check the path and the length of the body.
  app.addHook('onRoute', (route) => {
    route.preParsing = [route.preParsing ?? [], rejectCodings].flat()
  })
}

const rejectCodings: preParsingHookHandler = ({ headers, method }, _reply, _payload, done) => {
  if (method === 'GET' || method === 'HEAD') return done()
  const { 'content-length': length = '0', 'transfer-encoding': transferCoding = 'chunked' } = headers
  const coding = headers['content-encoding'] ?? 'identity'
  const hasBody = length !== '0' || headers['transfer-encoding'] !== undefined
  if (hasBody && coding.toLowerCase() !== 'identity')
    throw unsupportedMediaType(headers['content-type'], coding)
  if (transferCoding.toLowerCase() !== 'chunked')
    throw unsupportedMediaType(headers['content-type'], transferCoding)
  done()
}

/** Node's `headers` has only the first Host. */
const hasTwoHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}
