import type { Identity } from '@fms/contracts'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { isQuiet } from './quiet.ts'
import { callerGone } from './request-end.ts'

/** The one line of a request, with the same fields in every service that it passes. */
export const logRequest = (request: FastifyRequest, reply: FastifyReply, status: number): void => {
  const { log, method, routeOptions, identity } = request
  const answered = { method, route: routeOptions.url, status, durationMs: reply.elapsedTime, identity }
  logAnswer(log, answered, isQuiet(request) ? 'debug' : 'info')
}

export interface Answered {
  method: string
  /** The pattern. */
  route: string | undefined
  status: number
  durationMs: number
  /** Absent where nobody knows who asked. */
  identity: Identity | undefined
  /** Where the logger has none: the id of a request that came with others. */
  requestId?: string
}

/** Writes the line of a request that came in some other way. */
export const logAnswer = (
  log: FastifyBaseLogger,
  { method, route, status, durationMs, identity, requestId }: Answered,
  level: 'info' | 'debug' = 'info',
): void =>
  log[level](
    {
      ...(requestId !== undefined && { request_id: requestId }),
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 100) / 100,
      user: identity?.userId,
      organization: identity?.organizationId,
    },
    status === callerGone ? 'the caller has gone' : 'answered',
  )
