import { bodyTooLarge, flowOf, overloaded, shortBodyBytes } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ByteBudget } from './byte-budget.ts'

/**
 * Rejects bodies by their content-length, before their type is checked: 413 comes before 415. Holds the bytes of a long
 * body before it is read, until its response is sent and the work of the service is done. Register it after the hook that
 * limits concurrency.
 */
export const holdBodies = (app: FastifyInstance, budget: ByteBudget): void => {
  app.addHook('preParsing', async (request, reply) => {
    const bytes = lengthOf(request)
    if (bytes > request.routeOptions.bodyLimit) throw bodyTooLarge(request.routeOptions.bodyLimit)
    if (bytes <= shortBodyBytes) return
    // Only a body that is still on its way gives way: a service may be at work on others.
    const giveWay = () => void (request.raw.complete || reply.raw.destroy())
    const release = await budget.hold(flowOf(request.identity), bytes, giveWay, reply)
    if (!release) throw overloaded()
    request.permit.attach(release)
  })
}

/** The length of the body; without content-length, the largest that the route takes. */
const lengthOf = ({ headers, routeOptions }: FastifyRequest): number => {
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  return headers['transfer-encoding'] === undefined ? 0 : routeOptions.bodyLimit
}
