import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'

/** Idle time after which a connection is closed, in milliseconds; well below the default of `DRAIN_MS`. */
const idleMs = 2_000

/**
 * Timeout of a response's head and of each part of its body, in milliseconds. A little longer than services wait for a
 * lock or a majority of the store, so that their own error arrives.
 */
const defaultTimeoutMs = 6_000

/**
 * A DNS look-up that returns addresses in random order, so that connections spread over all instances of a service.
 *
 * The system's resolver sorts addresses by their common prefix with our own (RFC 6724, rule 9), so every connection
 * would go to the same instance. Node tries the next address when a connection fails.
 */
export const spreadLookup =
  (lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const shuffled = shuffle(addresses)
      if (options.all) return done(null, shuffled)
      const [first] = shuffled
      done(null, first!.address, first!.family)
    })
  }

/** Fisher–Yates shuffle. */
const shuffle = (addresses: LookupAddress[]): LookupAddress[] => {
  const shuffled = [...addresses]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
  }
  return shuffled
}

const connectionOptions = {
  pipelining: 1,
  connect: { timeout: 1_000, lookup: spreadLookup() },
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
}

/**
 * The connections to all upstreams. Their number is not limited, since admitted requests are: no request waits for a
 * connection. The gateway closes idle connections before a stopping service does (`DRAIN_MS`), since a write that is
 * sent on a closing connection cannot be retried. Busy ones are closed after a minute, so that a new instance gets its
 * share.
 *
 * @param timeoutMs of a response's head, and of each part of its body.
 */
export const createAgent = (timeoutMs = defaultTimeoutMs) =>
  new Agent({ ...connectionOptions, clientTtl: 60_000, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })

/**
 * The connections for event streams, one for each open stream. They are not among those of {@link createAgent}, where
 * each request would search them for one that is free.
 *
 * @param bodyTimeoutMs maximum time between two parts of a stream. Longer than the interval of its comments.
 */
export const createStreamAgent = (bodyTimeoutMs: number) =>
  new Agent({ ...connectionOptions, headersTimeout: defaultTimeoutMs, bodyTimeout: bodyTimeoutMs })
