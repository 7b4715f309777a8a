import type { ApiError } from '@fms/aip'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { tooManyWrongKeys } from './errors.ts'
import { MinuteCounts } from './minute-counts.ts'

export interface WrongKeysOptions {
  /** Wrong keys from one address in a minute; 0 takes the limit away. */
  perMinute: number
  /** Whether the request's key was good when it was last looked up here. */
  hasKnownKey: (request: FastifyRequest) => boolean
  now: () => number
}

/**
 * Makes guessing slow: past the limit, no key from the address is looked up for the rest of its minute but those that
 * are known here, so that those who share the address with a guesser go on. A guess can then not be told from a right
 * key that is new here, and costs no other service anything. Before the hook that names the caller.
 *
 * Counts failures as they happen: as many more as are under way at once may get through.
 */
export const limitWrongKeys = (
  app: FastifyInstance,
  { perMinute, hasKnownKey, now }: WrongKeysOptions,
): void => {
  if (perMinute === 0) return
  const wrongKeys = new MinuteCounts(now)

  app.addHook('onRequest', (request, _reply, done) => {
    const window = wrongKeys.size === 0 ? undefined : wrongKeys.find(neighbourhoodOf(request.ip))
    if (!window || window.count < perMinute || hasKnownKey(request)) return done()
    throw tooManyWrongKeys(perMinute, Math.ceil(wrongKeys.msLeft(window) / 1000))
  })
  app.addHook('onError', async (request, _reply, error) => {
    const { reason } = error as Partial<ApiError>
    if (reason === 'API_KEY_INVALID') wrongKeys.of(neighbourhoodOf(request.ip)).count++
  })
}

/** An IPv4 address; of an IPv6 one its /64, which is what a single subscriber has. */
export const neighbourhoodOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}
