import { Counter } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { rateLimited } from '../errors.ts'
import { addressGroupOf } from './address-group.ts'

export const windowMs = 60_000

/** Windows in memory. 50,000 of them take some 10 MB. */
const defaultMaxNames = 50_000

export interface Window {
  count: number
  /** The part of `count` that is not published to the other gateways yet. */
  unsent: number
  endsAt: number
}

/** Counts by name, in windows of a minute from the first count, so that not all end at the same second. */
export class FixedWindowCounter {
  /** In the order in which they began, which is about the order in which they end. */
  readonly #windows = new Map<string, Window>()
  /** Names with counts that are not published yet. */
  readonly unsent = new Set<string>()
  readonly #now: () => number
  readonly #maxNames: number

  /** @param now milliseconds of a monotonic clock. @param maxNames windows in memory; the oldest is evicted. */
  constructor(now: () => number, maxNames = defaultMaxNames) {
    this.#now = now
    this.#maxNames = maxNames
  }

  get size(): number {
    return this.#windows.size
  }

  /** The name's window; undefined if it has none or an expired one. */
  find(name: string): Window | undefined {
    const window = this.#windows.get(name)
    return window && window.endsAt > this.#now() ? window : undefined
  }

  /** The name's window, a new one if it has none. @param lastsMs the length of a new one, in milliseconds. */
  of(name: string, lastsMs = windowMs): Window {
    return this.find(name) ?? this.#begin(name, lastsMs)
  }

  /** Counts a request that this gateway lets through. */
  add(name: string): void {
    const window = this.of(name)
    window.count++
    window.unsent++
    this.unsent.add(name)
  }

  /** Time until the window ends, in milliseconds; 0 for an expired one. */
  msLeft({ endsAt }: Window): number {
    return Math.max(0, endsAt - this.#now())
  }

  #begin(name: string, lastsMs: number): Window {
    this.#windows.delete(name)
    this.#evict()
    const window = { count: 0, unsent: 0, endsAt: this.#now() + lastsMs }
    this.#windows.set(name, window)
    return window
  }

  /** Deletes expired windows, and the oldest ones until there is space for one more. */
  #evict() {
    const now = this.#now()
    for (const [name, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size < this.#maxNames) return
      this.#windows.delete(name)
      this.unsent.delete(name)
    }
  }
}

/**
 * Limits requests per minute, with the headers RateLimit-Limit, -Remaining and -Reset (seconds) of the IETF draft.
 * Register it after the hook that sets the caller.
 *
 * @param perMinute 0 lifts the limit.
 * @param nameOf what is limited instead of the key.
 */
export const limitRate = (
  app: FastifyInstance,
  perMinute: number,
  counts: FixedWindowCounter,
  nameOf = ({ identity }: FastifyRequest): string => identity.key.id,
): void => {
  if (perMinute === 0) return

  app.addHook('onRequest', (request, reply, done) => {
    const name = nameOf(request)
    const window = counts.of(name)
    const isWithinLimit = window.count < perMinute
    if (isWithinLimit) counts.add(name)
    const resetSeconds = Math.ceil(counts.msLeft(window) / 1000)
    reply.headers({
      'ratelimit-limit': perMinute,
      'ratelimit-remaining': Math.max(0, perMinute - window.count),
      'ratelimit-reset': resetSeconds,
    })
    done(isWithinLimit ? undefined : rateLimited(perMinute, resetSeconds))
  })
}

/** Requests of one address without a key per minute. */
const maxOfAddress = 1_200

/** Limits requests without a key, those of one address together. @param kind of requests, which counts apart. */
export const limitAddresses = (app: FastifyInstance, counts: FixedWindowCounter, kind: string): void =>
  limitRate(app, maxOfAddress, counts, ({ ip }) => `${kind} ${addressGroupOf(ip)}`)

const untrusted = new Counter({
  name: 'http_untrusted_forwarded_total',
  help: 'Requests with an X-Forwarded-For from an address that TRUST_PROXY does not name, so that the header is ignored',
})

/** Counts requests of proxies that `TRUST_PROXY` does not name, for `formctl doctor`: their callers share one address. */
export const countUntrustedForwarding = (app: FastifyInstance): void => {
  app.addHook('onRequest', ({ headers, ip, socket }, _reply, done) => {
    if (headers['x-forwarded-for'] !== undefined && ip && ip === socket.remoteAddress) untrusted.inc()
    done()
  })
}
