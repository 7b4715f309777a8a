import { ApiError } from '@fms/aip'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { countError } from '../telemetry/metrics.ts'
import { bodyTooLarge, internal, malformedRequest, unsupportedMediaType } from './errors.ts'

const errorHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/**
 * Handles every error of a route or hook; only this file writes error bodies. Unknown errors become INTERNAL, logged
 * here once with their stack. Other 5xx follow from an outage, which has its own line: they are counted, and logged at
 * debug. Once the client has disconnected, only unknown errors count.
 */
export const errorHandler = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
  if (reply.hasEnded && (thrown instanceof ApiError || thrown === request.raw.errored || isAbort(thrown))) {
    reply.hijack()
    return
  }
  const error = toApiError(thrown, request)
  if (error.status === 'INTERNAL')
    request.log.error({ err: error.parts.cause ?? error, reason: error.reason }, error.message)
  else if (error.httpStatus >= 500)
    request.log.debug({ reason: error.reason, cause: messageOf(error.parts.cause) }, error.message)
  sendError(error, request, reply)
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : undefined)

/** Whether work was aborted because the client disconnected. */
const isAbort = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'AbortError'

/** Sends an error response, with `Cache-Control: no-store`. */
export const sendError = (error: ApiError, request: FastifyRequest, reply: FastifyReply): void => {
  countError(error.reason)
  const { headers, retryAfterSeconds } = error.parts
  if (headers) reply.headers(headers)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(retryAfterSeconds))
  reply.code(error.httpStatus).headers(errorHeaders).serializer(JSON.stringify).send(error.toBody(request.id))
}

/** An error as the bytes of the last response of a connection, where no request has a reply. */
export const lastResponse = (error: ApiError, requestId: string, method?: string): string => {
  const body = JSON.stringify(error.toBody(requestId))
  const headers = {
    ...errorHeaders,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    date: new Date().toUTCString(),
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.httpStatus} \r\n${lines.join('')}\r\n${method === 'HEAD' ? '' : body}`
}

const toApiError = (thrown: unknown, request: FastifyRequest): ApiError => {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof Error && thrown === request.raw.errored) return malformedRequest(thrown)
  if (!isFastifyError(thrown)) return internal(thrown)
  if (thrown.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return unsupportedMediaType(request.headers['content-type'])
  if (thrown.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request.routeOptions.bodyLimit ?? 0)
  return thrown.statusCode !== undefined && thrown.statusCode < 500
    ? malformedRequest(thrown)
    : internal(thrown)
}

/** Checks the code, since errors of other libraries may have a `statusCode` as well. */
const isFastifyError = (thrown: unknown): thrown is FastifyError =>
  thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('FST_')
