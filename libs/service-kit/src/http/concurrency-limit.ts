import type { ApiError } from '@fms/aip'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countError, observeRequest } from '../telemetry/metrics.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    bound?: ConcurrencyLimit
  }
  interface FastifyReply {
    /** Where it has a place until {@link releaseRequest}. */
    bound: ConcurrencyLimit | undefined
  }
}

/** How many requests of some kind may be under way at once. */
export class ConcurrencyLimit {
  #underWay = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#underWay >= this.#max
  }

  take(): void {
    this.#underWay++
  }

  leave(): void {
    this.#underWay--
  }
}

/**
 * The routes that are registered on `app` from here on share a bound, which {@link shedLoad} keeps. A request counts
 * once its body is there, so that a caller who sends it slowly takes nobody's place, until its {@link onRequestEnd}.
 */
export const limitRequests = (app: FastifyInstance, max: number): void => {
  const bound = new ConcurrencyLimit(max)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, bound }
  })
  app.addHook('preValidation', ({ routeOptions }, reply, done) => {
    // Who is gone by now leaves no more.
    if (routeOptions.config.bound === bound && !reply.hasEnded) {
      bound.take()
      reply.bound = bound
    }
    done()
  })
}

/** The caller has its answer, or is gone. */
export const releaseRequest = ({ bound }: FastifyReply): void => bound?.leave()

/** How often the log tells how many were refused, in milliseconds. */
const tellEveryMs = 1_000

/**
 * Refuses at once what finds its bound full, before anything else is done for it: before all hooks but the app's first. Under load
 * each refusal takes from those who are served, so that it goes past most of Fastify, and the log has a line for all of
 * a second.
 */
export const shedLoad = (app: FastifyInstance, refusal: ApiError): void => {
  const refuse = refuseWith(refusal)
  let refused = 0
  const tell = () => {
    app.log.warn({ refused }, 'too much was under way: requests were refused')
    refused = 0
  }
  app.decorateReply('bound')
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.routeOptions.config.bound?.isFull) return done()
    if (refused++ === 0) setTimeout(tell, tellEveryMs).unref()
    refuse(request, reply)
  })
}

/** As `sendError` does, with all made ready that is the same for each. */
const refuseWith = (refusal: ApiError) => {
  const { headers = {}, retryAfterSeconds = 1 } = refusal.parts
  const fixedHeaders = [
    ...Object.entries(headers).flat(),
    'retry-after',
    `${Math.ceil(retryAfterSeconds)}`,
    'content-type',
    'application/json; charset=utf-8',
    'cache-control',
    'no-store',
  ]
  const [before, after] = JSON.stringify(refusal.toBody('REQUEST ID')).split('"REQUEST ID"')
  return (request: FastifyRequest, reply: FastifyReply): void => {
    countError(refusal.reason)
    observeRequest(request, reply, refusal.httpStatus)
    const body = before + JSON.stringify(request.id) + after
    const length = `${Buffer.byteLength(body)}`
    // Told and counted already.
    reply.hasEnded = true
    reply.hijack()
    reply.raw
      .writeHead(refusal.httpStatus, [
        ...Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, `${value}`]),
        ...fixedHeaders,
        'x-request-id',
        request.id,
        'content-length',
        length,
      ])
      .end(body)
  }
}
