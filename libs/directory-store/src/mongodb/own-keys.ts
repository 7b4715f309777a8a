import { maxLiveKeys } from '@fms/contracts'
import { listMongodb, retryOnConflict, storeUnavailable, writeConflict } from '@fms/store-kit/mongodb'
import { drawKey, hasEnded, hashApiKey, type KeyFields, keyIdOfRequest, maxEndedKeys } from '../api-key.ts'
import type { ApiKey, IssuedApiKey, KeyPage, ListOwnKeysQuery } from '../directory-store.ts'
import { userNotFound } from '../errors.ts'
import { NewOwnKey, parseInput } from '../inputs.ts'
import { keyAlreadyCreated, keyNotFound, tooManyKeys } from '../own-key-errors.ts'
import { type DirectoryCollections, type KeyDocument, toApiKey, type UserDocument } from './documents.ts'
import { firstOf } from './first-of.ts'

/** How long a claim counts before its key is stored. Far longer than a create may take; milliseconds. */
const claimMs = 60_000

const newestFirst = [
  { field: 'createTime', descending: true },
  { field: '_id', descending: true },
]

/**
 * The keys of users by the API. The clock decides which keys are live.
 *
 * A create first claims the id of its key in the user's document, by compare-and-set. Claims count as live keys until the
 * key is stored, so concurrent creates cannot exceed the limit. A claim that a killed process leaves ends after a minute.
 */
export class MongoOwnKeys {
  readonly #users: DirectoryCollections['users']
  readonly #keys: DirectoryCollections['keys']
  readonly #now: () => Date

  constructor({ users, keys }: DirectoryCollections, now: () => Date) {
    this.#users = users
    this.#keys = keys
    this.#now = now
  }

  /** Index: `_id`. */
  async get(userId: string, keyId: string): Promise<ApiKey | undefined> {
    const document = await this.#keys.findOne({ _id: keyId.toLowerCase(), userId })
    const key = document && toApiKey(document)
    return key && !hasEnded(key, this.#now()) ? key : undefined
  }

  /** Index: keys_by_user. */
  async list({ userId, after, limit, skip }: ListOwnKeysQuery): Promise<KeyPage> {
    const scope = { userId, revokeTime: null, ...this.#notExpired() }
    const list = listMongodb(this.#keys, { scope, fields: {}, order: newestFirst, after, skip, limit })
    const [found, totalSize] = await Promise.all([firstOf(limit + 1, list.items), list.count()])
    const keys = found.slice(0, limit).map(toApiKey)
    const last = keys.at(-1)
    return {
      keys,
      ...(found.length > limit && last && { next: [last.createTime.getTime(), last.keyId] }),
      totalSize,
    }
  }

  async create(newKey: NewOwnKey, validateOnly = false): Promise<IssuedApiKey> {
    const { requestId, ...fields } = parseInput(NewOwnKey, newKey)
    const keyId = requestId && keyIdOfRequest(fields.userId, requestId)
    const taken = () => keyAlreadyCreated(requestId!, keyId!)
    if (keyId && (await this.#keys.confirm({ _id: keyId }))) throw taken()
    const issued = drawKey({ ...fields, keyId }, this.#now())
    if (validateOnly) {
      await this.#assertRoom(fields.userId)
      return issued
    }
    await this.#claim(issued.apiKey)
    if (!(await this.#insert(issued))) throw taken()
    return issued
  }

  async rotate(
    { userId, keyId, overlapMs }: { userId: string; keyId: string; overlapMs: number },
    validateOnly = false,
  ): Promise<IssuedApiKey> {
    const old = await this.get(userId, keyId)
    if (!old) throw keyNotFound(keyId)
    const issued = drawKey({ ...old, keyId: undefined }, this.#now())
    const ending = overlapMs === 0 ? 1 : 0
    if (validateOnly) {
      await this.#assertRoom(userId, ending)
      return issued
    }
    await this.#claim(issued.apiKey, ending)
    await this.#insert(issued)
    if (await this.#end(old, overlapMs)) return issued
    // Another call has ended the old key meanwhile. Nobody has seen the new one.
    await this.#keys.deleteOne({ _id: issued.apiKey.keyId })
    throw keyNotFound(keyId)
  }

  async revoke(userId: string, keyId: string): Promise<void> {
    const key = await this.get(userId, keyId)
    if (!key || !(await this.#end(key, 0))) throw keyNotFound(keyId)
  }

  /**
   * Creates a key in exchange for something that exists once, such as a login code.
   *
   * @param take called once there is room for the key. Removes that thing, and returns whether this call removed it.
   * @returns undefined when `take` returns false.
   * @throws {ApiError} USER_NOT_FOUND, TOO_MANY_KEYS, before `take` is called.
   */
  async createIf(fields: KeyFields, take: () => Promise<boolean>): Promise<IssuedApiKey | undefined> {
    const issued = drawKey(fields, this.#now())
    await this.#claim(issued.apiKey)
    const isTaken = await take().catch(async (error) => {
      await this.#dropClaim(issued.apiKey).catch(() => {})
      throw error
    })
    if (isTaken) {
      await this.#insert(issued)
      return issued
    }
    await this.#dropClaim(issued.apiKey)
    return undefined
  }

  /**
   * Checks that a user may have one more live key.
   *
   * @param ending how many live keys of the user end with the same change.
   * @returns the user, the claims that still count, and the ended keys to delete.
   * @throws {ApiError} USER_NOT_FOUND, TOO_MANY_KEYS
   */
  async #assertRoom(
    userId: string,
    ending = 0,
  ): Promise<{ user: UserDocument; claims: Record<string, number>; surplus: string[] }> {
    // The claims are read before the keys: a claim is removed only after its key is stored.
    const user = await this.#users.findOne({ _id: userId })
    if (!user) throw userNotFound(userId)
    const { ids, live, ended } = await this.#readKeys(userId)
    const oldest = this.#now().getTime() - claimMs
    const claims = Object.entries(user.keyClaims ?? {}).filter(([id, time]) => time > oldest && !ids.has(id))
    if (live + claims.length - ending >= maxLiveKeys) throw tooManyKeys(maxLiveKeys)
    return { user, claims: Object.fromEntries(claims), surplus: ended.slice(maxEndedKeys - ending) }
  }

  /** Also bounds what the ended keys of the user take up. */
  async #claim({ userId, keyId, createTime }: ApiKey, ending = 0): Promise<void> {
    const attempt = async () => {
      const { user, claims, surplus } = await this.#assertRoom(userId, ending)
      const { keysVersion = null } = user
      const keyClaims = { ...claims, [keyId]: createTime.getTime() }
      // A query for null also matches an absent field.
      const isClaimed = await this.#users.set(
        { _id: userId, keysVersion },
        { keysVersion: (keysVersion ?? 0) + 1, keyClaims },
      )
      return isClaimed ? surplus : writeConflict
    }
    const onGiveUp = () => storeUnavailable(new Error('Keys of the user keep being created'))
    const surplus = await retryOnConflict(attempt, onGiveUp)
    // Before the key is stored: if this fails, no key is left whose secret nobody has.
    if (surplus.length > 0) await this.#keys.deleteMany({ _id: { $in: surplus } })
  }

  /** Without this, the claim counts for a minute. */
  async #dropClaim({ userId, keyId }: ApiKey): Promise<void> {
    await this.#users.increment({ _id: userId }, { keysVersion: 1 }, { unset: [`keyClaims.${keyId}`] })
  }

  /**
   * The ids of all keys of a user, how many are live, and the ids of the others, from the one that ended last. Index:
   * keys_by_user.
   */
  async #readKeys(userId: string): Promise<{ ids: Set<string>; live: number; ended: string[] }> {
    const now = this.#now()
    const fields = ['_id', 'createTime', 'expireTime', 'revokeTime']
    const found = this.#keys.find({ userId }, { sort: { createTime: 1, _id: 1 }, fields })
    const keys = await Array.fromAsync(found)
    const ended = keys
      .filter((key) => !isLiveAt(key, now))
      .sort((a, b) => endOf(b) - endOf(a) || b.createTime - a.createTime)
    const ids = new Set(keys.map(({ _id }) => _id))
    return { ids, live: keys.length - ended.length, ended: ended.map(({ _id }) => _id) }
  }

  /** @returns false if the id is taken. */
  #insert({ key, apiKey }: IssuedApiKey): Promise<boolean> {
    const { keyId: _id, createTime, expireTime, ...fields } = apiKey
    return this.#keys.insert({
      _id,
      ...fields,
      hash: hashApiKey(key),
      createTime: createTime.getTime(),
      lastUsedTime: null,
      expireTime: expireTime?.getTime() ?? null,
      revokeTime: null,
    })
  }

  /** @returns false if the key has been revoked meanwhile. */
  async #end({ keyId: _id }: ApiKey, overlapMs: number): Promise<boolean> {
    const end = this.#now().getTime() + overlapMs
    const unrevoked = { _id, revokeTime: null }
    if (overlapMs === 0) return this.#keys.set(unrevoked, { revokeTime: end })
    const isLater = [{ expireTime: null }, { expireTime: { $gt: end } }]
    const isMoved = await this.#keys.set({ ...unrevoked, $or: isLater }, { expireTime: end })
    return isMoved || this.#keys.confirm(unrevoked)
  }

  #notExpired() {
    return { $or: [{ expireTime: null }, { expireTime: { $gt: this.#now().getTime() } }] }
  }
}

const isLiveAt = ({ expireTime, revokeTime }: KeyDocument, now: Date): boolean =>
  revokeTime === null && (expireTime === null || expireTime > now.getTime())

/** When a key that is not live ended. */
const endOf = ({ expireTime, revokeTime }: KeyDocument): number => (revokeTime ?? expireTime)!
