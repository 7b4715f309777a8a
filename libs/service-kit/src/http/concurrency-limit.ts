import type { ApiError } from '@fms/aip'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { observeRequest } from '../telemetry/metrics.ts'
import { rawErrorSender } from './error-handler.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    concurrencyLimit?: ConcurrencyLimit
  }
  interface FastifyReply {
    /** The limit that the request has acquired; {@link releaseRequest} releases it. */
    concurrencyLimit: ConcurrencyLimit | undefined
  }
}

/** The number of requests of some routes that may be in flight. */
export class ConcurrencyLimit {
  #inFlight = 0
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get isReached(): boolean {
    return this.#inFlight >= this.#max
  }

  acquire(): void {
    this.#inFlight++
  }

  release(): void {
    this.#inFlight--
  }
}

/**
 * Makes the routes that are registered on `app` from here on share a limit, which {@link shedLoad} enforces. A request
 * acquires it once its body is read, so that slow senders do not use it up, and releases it at the end of the request.
 */
export const limitRequests = (app: FastifyInstance, max: number): void => {
  const limit = new ConcurrencyLimit(max)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, concurrencyLimit: limit }
  })
  app.addHook('preValidation', ({ routeOptions }, reply, done) => {
    // After its end, a request would not release the limit again.
    if (routeOptions.config.concurrencyLimit === limit && !reply.hasEnded) {
      limit.acquire()
      reply.concurrencyLimit = limit
    }
    done()
  })
}

/** Releases the limit of a request that has ended. */
export const releaseRequest = ({ concurrencyLimit }: FastifyReply): void => concurrencyLimit?.release()

/** How often the log says how many requests were rejected, in milliseconds. */
const logIntervalMs = 1_000

/**
 * Rejects a request whose limit is reached with `error`, before all hooks other than the first ones of the app. Under
 * load each rejection takes time from requests that are served, so the response bypasses most of Fastify, and the log
 * has one line for all rejections of a second.
 */
export const shedLoad = (app: FastifyInstance, error: ApiError): void => {
  const send = rawErrorSender(error)
  let refused = 0
  const logRefused = () => {
    app.log.warn({ refused }, 'overloaded: requests were refused')
    refused = 0
  }
  app.decorateReply('concurrencyLimit')
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.routeOptions.config.concurrencyLimit?.isReached) return done()
    if (refused++ === 0) setTimeout(logRefused, logIntervalMs).unref()
    observeRequest(request, reply, error.httpStatus)
    // The request is logged and counted here, not by onRequestEnd.
    reply.hasEnded = true
    send(request, reply)
  })
}
