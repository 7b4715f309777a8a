import { ApiError } from '@fms/aip'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { countError } from '../telemetry/metrics.ts'
import { bodyTooLarge, internal, malformedRequest, unsupportedMediaType } from './errors.ts'

/** The one place that writes error bodies. Unknown failures become INTERNAL and are logged here, once. */
export const errorHandler = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
  if (reply.hasEnded && isAbort(thrown)) {
    reply.hijack()
    return
  }
  const error = toApiError(thrown, request)
  if (error.httpStatus >= 500)
    request.log.error({ err: error.parts.cause ?? error, reason: error.reason }, error.message)
  sendError(error, request, reply)
}

/** What ends the work for a caller who has gone is no failure, and nobody reads the answer. */
const isAbort = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'AbortError'

/** Answers with the error's body and headers. No cache stores it. */
export const sendError = (error: ApiError, request: FastifyRequest, reply: FastifyReply): void => {
  countError(error.reason)
  const { headers, retryAfterSeconds } = error.parts
  if (headers) reply.headers(headers)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', Math.ceil(retryAfterSeconds))
  reply
    .code(error.httpStatus)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .serializer(JSON.stringify)
    .send(error.toBody(request.id))
}

const toApiError = (thrown: unknown, request: FastifyRequest): ApiError => {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof Error && thrown === request.raw.errored) return malformedRequest(thrown)
  if (!isOfFastify(thrown)) return internal(thrown)
  if (thrown.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return unsupportedMediaType(request.headers['content-type'])
  if (thrown.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request.routeOptions.bodyLimit ?? 0)
  return thrown.statusCode !== undefined && thrown.statusCode < 500
    ? malformedRequest(thrown)
    : internal(thrown)
}

/** A status code alone proves nothing: whatever a route calls may throw errors with one. */
const isOfFastify = (thrown: unknown): thrown is FastifyError =>
  thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('FST_')
