import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, preParsingHookHandler } from 'fastify'
import { malformedRequest, unsupportedMediaType } from './errors.ts'

/**
 * Refuses what Node takes for a request and what another server before or behind it could read otherwise: two Hosts
 * (RFC 9112 §3.2), another version of HTTP by name, a body in a coding that nobody here undoes (RFC 9110 §8.4).
 */
export const rejectSmuggling = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor !== 1) throw malformedRequest(new Error(`HTTP/${raw.httpVersion} by name`))
    if (hasTwoHosts(raw)) throw malformedRequest(new Error('more than one Host'))
    done()
  })
  // Node would answer 417, with no body; an expectation may as well be ignored (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  // At the route, so that it comes after whatever a scope says of the path and of the body's length.
  app.addHook('onRoute', (route) => {
    route.preParsing = [route.preParsing ?? [], refuseCodings].flat()
  })
}

const refuseCodings: preParsingHookHandler = ({ headers, method }, _reply, _payload, done) => {
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

/** Node keeps the first one, and tells of others only here. */
const hasTwoHosts = ({ rawHeaders }: IncomingMessage): boolean => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}
