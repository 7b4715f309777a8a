import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * Looks a name up so that connections spread over everything it names: a service that runs several times has one
 * address for each time.
 *
 * The system's resolver sorts the addresses of one network by their likeness to our own (RFC 6724, rule 9), so that
 * every connection would go to the same one. Node tries the others where the first does not answer.
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

/** Fisher and Yates. */
const shuffle = (addresses: LookupAddress[]): LookupAddress[] => {
  const shuffled = [...addresses]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
  }
  return shuffled
}
