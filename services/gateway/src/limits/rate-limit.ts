import { Counter } from '@fms/service-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { rateLimited } from '../errors.ts'
import { addressGroupOf } from './address-group.ts'

const windowMs = 60_000

/** Windows in memory; 50,000 of them take some 10 MB. */
const maxWindows = 50_000

interface Window {
  count: number
  /** The part of `count` that is not published to the other gateways yet. */
  unsent: number
}

/** Counts by name, in windows of a minute from the first count, so that not all end at the same second. */
export class FixedWindowCounter {
  /** Names with counts that are not published yet. */
  readonly unsent = new Set<string>()
  readonly #windows: LRUCache<string, Window>

  /** @param now milliseconds of a monotonic clock, from 1. @param max windows in memory. */
  constructor(now: () => number, max = maxWindows) {
    this.#windows = new LRUCache({
      // And not `max`, for which the cache takes 2 MB at once.
      maxSize: max,
      sizeCalculation: () => 1,
      ttl: windowMs,
      ttlResolution: 0,
      perf: { now },
      dispose: (_, name) => this.unsent.delete(name),
    })
  }

  /** The name's window; undefined if it has none or an expired one. */
  find(name: string): Window | undefined {
    return this.#windows.get(name)
  }

  /** The name's window, a new one if it has none. @param lastsMs the length of a new one, in milliseconds. */
  of(name: string, lastsMs = windowMs): Window {
    const current = this.find(name)
    if (current) return current
    const begun = { count: 0, unsent: 0 }
    // To the cache, a TTL of 0 is none.
    this.#windows.set(name, begun, { ttl: lastsMs || 1 })
    return begun
  }

  /** Time until the name's window ends, in milliseconds. */
  msLeft(name: string): number {
    return this.#windows.getRemainingTTL(name)
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
    if (isWithinLimit) {
      window.count++
      window.unsent++
      counts.unsent.add(name)
    }
    const resetSeconds = Math.ceil(counts.msLeft(name) / 1000)
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
