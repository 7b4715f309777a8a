import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** No line in the log and no span: of what is asked every few seconds, and what is told of in another way. */
    isUnlogged?: boolean
  }
}

export const isUnlogged = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean =>
  routeOptions.config?.isUnlogged === true
