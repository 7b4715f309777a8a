import { shortBodyBytes } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every request of the route is dear: a comparison, or what moves a form of any size. */
    isDear?: boolean
    /** A page of the route is dear when it is long or filtered. */
    isList?: boolean
  }
}

/** Items of a page, skipped ones included, up to which it is ordinary. */
const shortPage = 100

/** Whether a request is known to be dear before it begins. */
export const isDear = ({ body, query, routeOptions: { config } }: FastifyRequest): boolean => {
  if (config.isDear || (Buffer.isBuffer(body) && body.length > shortBodyBytes)) return true
  if (!config.isList) return false
  const { filter, pageSize = 0, skip = 0 } = query as { filter?: string; pageSize?: string; skip?: string }
  return filter !== undefined || Number(pageSize) + Number(skip) > shortPage
}
