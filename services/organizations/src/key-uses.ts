import type { ApiKey } from '@fms/directory-store'
import type { FastifyBaseLogger } from 'fastify'
import type { OrganizationsDeps } from './app.ts'

/** A key in constant use is written down this often. */
const intervalMs = 60_000

/**
 * Keeps the keys' `lastUsedTime`, to the minute. What goes wrong with that is logged and stops nobody.
 *
 * @returns notes that a key is in use now.
 */
export const keepKeyUses = ({ directory, now }: OrganizationsDeps) => {
  // One entry a key of the directory, at the most.
  const notedMs = new Map<string, number>()

  return ({ keyId, lastUsedTime }: ApiKey, log: FastifyBaseLogger): void => {
    const time = now()
    const latestMs = Math.max(notedMs.get(keyId) ?? 0, lastUsedTime?.getTime() ?? 0)
    if (time.getTime() - latestMs < intervalMs) return
    notedMs.set(keyId, time.getTime())
    directory
      .touchKey(keyId, time)
      .catch((err) => log.warn({ err, key: keyId }, 'the use of a key is not noted'))
  }
}
