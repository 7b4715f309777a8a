import { apiError } from '@fms/aip'
import type { z } from 'zod'
import { drawKey, hasEnded } from '../api-key.ts'
import type { DirectoryStore } from '../directory-store.ts'
import { apiKeyEnded, apiKeyNotFound, userNotFound } from '../errors.ts'
import { ApiKeyChange, NewApiKey, parseChange, parseInput } from '../inputs.ts'
import type { ApiKey, IssuedApiKey } from '../resources.ts'
import { type Change, type Decision, insert, update } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, findAll, type Reading } from '../tables/reading.ts'
import { toApiKey, toFields, toKeyRow } from '../tables/rows.ts'

export const keyOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    async createKey(newKey) {
      const issued = drawKey(parseInput(NewApiKey, newKey), now())
      return tables.change(() => createKey(issued))
    },

    /** Index: keys_by_create_time. */
    listKeys: () =>
      tables.read(function* () {
        return (yield* findAll('keys', {}, { order: ['createTime', 'keyId'] })).map(toApiKey)
      }),

    async updateKey(keyId, change) {
      const fields = parseChange(ApiKeyChange, change)
      return tables.change(() => updateKey(keyId, fields, now()))
    },

    revokeKey: (keyId) => tables.change(() => revokeKey(keyId, now())),

    expireKey: (keyId, time) => tables.change(() => expireKey(keyId, time)),
  }) satisfies Partial<DirectoryStore>

function* createKey(issued: IssuedApiKey): Change<IssuedApiKey> {
  const row = toKeyRow(issued)
  const { userId, hash } = row
  if (!(yield* find('users', { userId }))) throw userNotFound(userId)
  const existing = yield* find('keys', { hash })
  if (existing) throw apiError('API_KEY_EXISTS', { keyId: existing.keyId })
  return { result: issued, writes: [insert('keys', row)] }
}

function* updateKey(keyId: string, fields: z.output<typeof ApiKeyChange>, now: Date): Change<ApiKey> {
  const key = yield* requireKey(keyId)
  if (hasEnded(key, now)) throw apiKeyEnded(key.keyId)
  return withFields(key, fields)
}

function* revokeKey(keyId: string, now: Date): Change<ApiKey> {
  const key = yield* requireKey(keyId)
  return withFields(key, key.revokeTime ? {} : { revokeTime: now })
}

function* expireKey(keyId: string, time: Date): Change<ApiKey> {
  const key = yield* requireKey(keyId)
  return withFields(key, key.revokeTime ? {} : endAt(key, time))
}

/** The fields with which a key ends at a time, unless it expires before. */
export const endAt = ({ expireTime }: ApiKey, time: Date): Partial<ApiKey> =>
  expireTime && expireTime <= time ? {} : { expireTime: time }

export const withFields = (key: ApiKey, fields: Partial<ApiKey>): Decision<ApiKey> => ({
  result: { ...key, ...fields },
  writes: update('keys', { keyId: key.keyId }, toFields(fields)),
})

function* requireKey(keyId: string): Reading<ApiKey> {
  const row = yield* find('keys', { keyId: keyId.toLowerCase() })
  if (!row) throw apiKeyNotFound(keyId)
  return toApiKey(row)
}
