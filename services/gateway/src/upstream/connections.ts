import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'

/** Idle time after which a connection is closed, in milliseconds; well below the default of `DRAIN_MS`. */
const idleMs = 2_000

/** Timeout of a response's head and of each part of its body: services wait less for the store, and say so. */
const defaultTimeoutMs = 6_000

/** Timeout of the next bytes of an event stream, in milliseconds. Forms sends a comment every five seconds. */
const streamTimeoutMs = 15_000

/**
 * Returns addresses in random order. The system sorts them by common prefix (RFC 6724, rule 9): all connections would
 * go to one instance. Node tries the next address on a failure.
 */
export const shuffledLookup =
  (lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const shuffled = addresses
        .map((address) => ({ ...address, rank: Math.random() }))
        .sort((one, other) => one.rank - other.rank)
      if (options.all) return done(null, shuffled)
      const [first] = shuffled
      done(null, first!.address, first!.family)
    })
  }

const connectionOptions = {
  pipelining: 1,
  connect: { timeout: 1_000, lookup: shuffledLookup() },
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
}

/**
 * The connections to all upstreams, unlimited, since admitted requests are limited. Idle ones close before a stopping
 * service closes them (`DRAIN_MS`): a write on a closing one cannot be retried. Busy ones close after a minute, so that
 * a new instance gets its share.
 */
export const createAgent = (timeoutMs = defaultTimeoutMs) =>
  new Agent({ ...connectionOptions, clientTtl: 60_000, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })

/** One connection per event stream. */
export const createStreamAgent = () =>
  new Agent({ ...connectionOptions, headersTimeout: defaultTimeoutMs, bodyTimeout: streamTimeoutMs })
