import type { ApiKey } from '@fms/directory-store'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { OrganizationsDeps } from './deps.ts'

/** Minimum time between two writes of a key's `lastUsedTime`. */
const writeIntervalMs = 60_000

/** Keys whose last write is in memory. For the others, the stored time decides. */
const maxKeys = 10_000

/** Returns a function that records the `lastUsedTime` of a key, to a minute, without waiting. Logs failures. */
export const createKeyUseRecorder = ({ directory, now }: OrganizationsDeps) => {
  const recordedMs = new LRUCache<string, number>({ max: maxKeys })

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
