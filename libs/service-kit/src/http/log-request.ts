import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientClosedRequest } from './request-end.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Gives the route no span and only debug log lines, such as for probes and for requests that are logged elsewhere. */
    isUnlogged?: boolean
  }
}

/** Whether the route of a request is unlogged. */
export const isUnlogged = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  routeOptions.config?.isUnlogged === true

/**
 * Logs a request when it ends. Every service that handles it logs the same fields.
 *
 * @param level of requests that succeed or that their client is to blame for. Failures are always logged.
 */
export const logRequest = (
  { log, method, routeOptions, identity }: FastifyRequest,
  reply: FastifyReply,
  status: number,
  level: 'info' | 'debug',
): void =>
  log[isUnlogged({ routeOptions }) ? 'debug' : status >= 500 ? 'info' : level](
    {
      method,
      route: routeOptions.url,
      status,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      // Absent where the caller is unknown.
      user: identity?.userId,
      organization: identity?.organizationId,
    },
    status === clientClosedRequest ? 'client disconnected' : 'request completed',
  )
