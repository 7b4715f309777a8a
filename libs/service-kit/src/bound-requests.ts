import type { ApiError } from '@fms/aip'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendError } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    bound?: RequestBound
  }
}

/** How many requests of some kind may be under way at once. */
export class RequestBound {
  #underWay = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#underWay >= this.#max
  }

  /** Takes a place until the caller has its answer or is gone. */
  take(reply: FastifyReply): void {
    this.#underWay++
    reply.raw.once('close', () => this.#underWay--)
  }
}

/**
 * The routes that are registered on `app` from here on share a bound, which {@link shedLoad} keeps. A request counts
 * once its body is there, so that a caller who sends it slowly takes nobody's place.
 */
export const boundRequests = (app: FastifyInstance, max: number): void => {
  const bound = new RequestBound(max)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, bound }
  })
  app.addHook('preValidation', ({ routeOptions }, reply, done) => {
    if (routeOptions.config.bound === bound) bound.take(reply)
    done()
  })
}

/** Refuses at once what finds its bound full, before anything else is done for it. */
export const shedLoad = (app: FastifyInstance, refusal: ApiError): void => {
  app.addHook('onRequest', (request, reply, done) => {
    // No throw, and one error for all: under load a refusal has to cost little, in the log as well.
    if (request.routeOptions.config.bound?.isFull) sendError(refusal, request, reply)
    else done()
  })
}
