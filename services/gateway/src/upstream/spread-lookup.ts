import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

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
