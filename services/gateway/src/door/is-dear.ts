import { flowOf, shortBodyBytes } from '@fms/service-kit'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

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

/** Organizations whose last list was short: their next ones are expected to be. Those of others are dear until then. */
const shortLists = new LRUCache<string, true>({ max: 10_000 })

/** Remembers whether the response to a list was long, more than 256 KiB. */
export const noteLength = ({ identity, routeOptions }: FastifyRequest, isLong: boolean): void => {
  if (!routeOptions.config.isList) return
  if (isLong) shortLists.delete(flowOf(identity).organization)
  else shortLists.set(flowOf(identity).organization, true)
}

/** Whether a request is known to be dear before it begins. */
export const isDear = ({ body, query, identity, routeOptions: { config } }: FastifyRequest): boolean => {
  if (config.isDear || (Buffer.isBuffer(body) && body.length > shortBodyBytes)) return true
  if (!config.isList) return false
  if (!shortLists.has(flowOf(identity).organization)) return true
  const { filter, pageSize = 0, skip = 0 } = query as { filter?: string; pageSize?: string; skip?: string }
  return filter !== undefined || Number(pageSize) + Number(skip) > shortPage
}
