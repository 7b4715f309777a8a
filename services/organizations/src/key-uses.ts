import type { ApiKey } from '@fms/directory-store'
import type { FastifyBaseLogger } from 'fastify'
import type { OrganizationsDeps } from './app.ts'

/** Minimum time between two writes of a key's `lastUsedTime`. */
const writeIntervalMs = 60_000

/**
 * Records the `lastUsedTime` of keys, accurate to a minute. Logs a failed write and continues.
 *
 * @returns a function that records the current time for a key, without waiting for the write.
 */
export const createKeyUseRecorder = ({ directory, now }: OrganizationsDeps) => {
  // At most one entry for each key in the directory.
  const recordedMs = new Map<string, number>()

  return ({ keyId, lastUsedTime }: ApiKey, log: FastifyBaseLogger): void => {
    const time = now()
    const latestMs = Math.max(recordedMs.get(keyId) ?? 0, lastUsedTime?.getTime() ?? 0)
    if (time.getTime() - latestMs < writeIntervalMs) return
    recordedMs.set(keyId, time.getTime())
    directory
      .touchKey(keyId, time)
      .catch((err) => log.warn({ err, key: keyId }, 'the last use of a key is not recorded'))
  }
}
