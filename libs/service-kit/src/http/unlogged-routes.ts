import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Gives the route no span and only debug log lines, such as for probes and for requests that are logged elsewhere. */
    isUnlogged?: boolean
  }
}

/** Whether the route of a request is unlogged. */
export const isUnlogged = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  routeOptions.config?.isUnlogged === true
