import { apiError, positionOf } from '@fms/aip'
import { keyPath, maxLiveKeys } from '@fms/contracts'
import type { z } from 'zod'
import { drawKey, hasEnded, type KeyFields, keyIdOfRequest, maxEndedKeys } from '../api-key.ts'
import type { DirectoryStore, KeyRotation } from '../directory-store.ts'
import { keyNotFound, userNotFound } from '../errors.ts'
import { NewOwnKey, parseInput } from '../inputs.ts'
import type { ApiKey, IssuedApiKey } from '../resources.ts'
import { type Change, insert, lock, remove } from '../tables/change.ts'
import type { DirectoryTables } from '../tables/directory-tables.ts'
import { find, findAll, type Reading } from '../tables/reading.ts'
import { type KeyRow, toApiKey, toKeyRow } from '../tables/rows.ts'
import { endAt, withFields } from './keys.ts'

const newestFirst = [
  { field: 'createTime', descending: true },
  { field: 'keyId', descending: true },
] as const

/** The keys of users by the API. The clock decides which keys are live. */
export const ownKeyOperations = (tables: DirectoryTables, now: () => Date) =>
  ({
    /** Index: the primary key. */
    getOwnKey: (userId, keyId) => tables.read(() => findOwnKey(userId, keyId, now())),

    /** Index: keys_by_user. */
    async listOwnKeys({ userId, ...page }) {
      const { rows, hasMore, totalSize } = await tables.page({
        table: 'keys',
        where: { userId, revokeTime: null, expireTime: { nullOrAfter: now().getTime() } },
        order: newestFirst,
        ...page,
      })
      const next = hasMore && { next: positionOf(rows.at(-1)!, newestFirst) }
      return { keys: rows.map(toApiKey), ...next, totalSize }
    },

    async createOwnKey(newKey, options) {
      const fields = parseInput(NewOwnKey, newKey)
      return changeOrCheck(tables, () => createOwnKey(fields, now()), options)
    },

    rotateOwnKey: (rotation, options) => changeOrCheck(tables, () => rotateOwnKey(rotation, now()), options),

    revokeOwnKey: (userId, keyId, options) =>
      changeOrCheck(tables, () => revokeOwnKey(userId, keyId, now()), options),
  }) satisfies Partial<DirectoryStore>

/** Makes a change; with `validateOnly` only decides it. */
export const changeOrCheck = async <R>(
  tables: DirectoryTables,
  change: () => Change<R>,
  { validateOnly = false } = {},
): Promise<R> => (validateOnly ? (await tables.read(change)).result : tables.change(change))

function* createOwnKey(
  { requestId, ...fields }: z.output<typeof NewOwnKey>,
  now: Date,
): Change<IssuedApiKey> {
  const { userId } = fields
  if (!(yield* find('users', { userId }))) throw userNotFound(userId)
  const keyId = yield* newKeyId(userId, requestId)
  return yield* issueOwnKey({ ...fields, keyId }, now)
}

/** The id of a new key with a `requestId`; undefined without one. @throws {ApiError} KEY_ALREADY_CREATED */
function* newKeyId(userId: string, requestId: string | undefined): Reading<string | undefined> {
  if (requestId === undefined) return undefined
  const keyId = keyIdOfRequest(userId, requestId)
  if (!(yield* find('keys', { keyId }))) return keyId
  throw apiError('KEY_ALREADY_CREATED', { requestId, key: keyPath(keyId) })
}

/** A rotation that revokes the old key needs no room for a further one. */
function* rotateOwnKey(
  { userId, keyId, overlapMs, requestId, assertAllowed }: KeyRotation,
  now: Date,
): Change<IssuedApiKey> {
  // First, since the rotation of this requestId may have revoked the old key.
  const successorId = yield* newKeyId(userId, requestId)
  const old = yield* requireOwnKey(userId, keyId, now)
  assertAllowed?.(old)
  const isRevoked = overlapMs === 0
  const end = isRevoked ? { revokeTime: now } : endAt(old, new Date(now.getTime() + overlapMs))
  const { result, writes } = yield* issueOwnKey({ ...old, keyId: successorId }, now, isRevoked ? 1 : 0)
  return { result, writes: [...withFields(old, end).writes, ...writes] }
}

function* revokeOwnKey(userId: string, keyId: string, now: Date): Change<void> {
  const key = yield* requireOwnKey(userId, keyId, now)
  return { result: undefined, writes: withFields(key, { revokeTime: now }).writes }
}

function* findOwnKey(userId: string, keyId: string, now: Date): Reading<ApiKey | undefined> {
  const row = yield* find('keys', { keyId: keyId.toLowerCase(), userId })
  return row && !hasEnded(row, now) ? toApiKey(row) : undefined
}

function* requireOwnKey(userId: string, keyId: string, now: Date): Reading<ApiKey> {
  const key = yield* findOwnKey(userId, keyId, now)
  if (!key) throw keyNotFound(keyId)
  return key
}

/** @param ending how many live keys of the user end with the same change. @throws {ApiError} TOO_MANY_KEYS */
export function* issueOwnKey(fields: KeyFields, now: Date, ending = 0): Change<IssuedApiKey> {
  const { userId } = fields
  const keys = yield* findAll('keys', { userId }, { fields: timesOfKey })
  const ended = keys.filter((key) => hasEnded(key, now)).sort(byEnd)
  if (keys.length - ended.length - ending >= maxLiveKeys)
    throw apiError('TOO_MANY_KEYS', { limit: `${maxLiveKeys}` })
  const surplus = ended.slice(maxEndedKeys - ending).map(({ keyId }) => keyId)
  const issued = drawKey(fields, now)
  return {
    result: issued,
    writes: [
      // Of several creates at the same time, each counts the keys of the others.
      lock('users', { userId }),
      insert('keys', toKeyRow(issued)),
      ...(surplus.length > 0 ? [remove('keys', { keyId: surplus })] : []),
    ],
  }
}

/** A user may have many ended keys: these fields say which of them stay. */
const timesOfKey = ['keyId', 'createTime', 'expireTime', 'revokeTime'] as const
type KeyTimes = Pick<KeyRow, (typeof timesOfKey)[number]>

/** The key that ended last comes first. */
const byEnd = (a: KeyTimes, b: KeyTimes): number =>
  endOf(b) - endOf(a) || b.createTime - a.createTime || (a.keyId < b.keyId ? 1 : -1)

const endOf = ({ revokeTime, expireTime }: KeyTimes): number => (revokeTime ?? expireTime)!
