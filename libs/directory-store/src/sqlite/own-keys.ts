import { maxLiveKeys } from '@fms/contracts'
import { afterPosition, allOf, orderSql, pageSql, type Row, type SqliteDatabase } from '@fms/store-kit'
import { drawKey, hasEnded, hashApiKey, type KeyFields, keyIdOfRequest, maxEndedKeys } from '../api-key.ts'
import type { ApiKey, IssuedApiKey, KeyPage, ListOwnKeysQuery } from '../directory-store.ts'
import { userNotFound } from '../errors.ts'
import { NewOwnKey, parseInput } from '../inputs.ts'
import { keyAlreadyCreated, keyNotFound, tooManyKeys } from '../own-key-errors.ts'
import { toApiKey } from './rows.ts'

const liveSql = 'userId = ? AND revokeTime IS NULL AND (expireTime IS NULL OR expireTime > ?)'

const newestFirst = [
  { column: 'createTime', descending: true },
  { column: 'keyId', descending: true },
]

/** The keys of users by the API. The clock decides which keys are live. */
export class SqliteOwnKeys {
  readonly #database: SqliteDatabase
  readonly #now: () => Date

  constructor(database: SqliteDatabase, now: () => Date) {
    this.#database = database
    this.#now = now
  }

  /** Index: the primary key. */
  get(userId: string, keyId: string): ApiKey | undefined {
    const row = this.#database.get(
      'SELECT * FROM keys WHERE keyId = ? AND userId = ?',
      keyId.toLowerCase(),
      userId,
    )
    const key = row && toApiKey(row)
    return key && !hasEnded(key, this.#now()) ? key : undefined
  }

  /** Index: keys_by_user. */
  list({ userId, after, limit, skip }: ListOwnKeysQuery): KeyPage {
    const live = { sql: liveSql, values: [userId, this.#now().getTime()] }
    const rest = allOf(live, after && afterPosition(newestFirst, after))
    const rows = this.#database.all(
      `SELECT * FROM keys WHERE ${rest.sql} ORDER BY ${orderSql(newestFirst)} ${pageSql}`,
      ...[...rest.values, limit + 1, skip],
    )
    const keys = rows.slice(0, limit).map(toApiKey)
    const last = keys.at(-1)
    return {
      keys,
      ...(rows.length > limit && last && { next: [last.createTime.getTime(), last.keyId] }),
      totalSize: this.#countLive(userId),
    }
  }

  async create(newKey: NewOwnKey, validateOnly = false): Promise<IssuedApiKey> {
    const { requestId, ...fields } = parseInput(NewOwnKey, newKey)
    const keyId = requestId && keyIdOfRequest(fields.userId, requestId)
    const issued = drawKey({ ...fields, keyId }, this.#now())
    const check = () => {
      if (keyId && this.#database.get('SELECT 1 FROM keys WHERE keyId = ?', keyId)) {
        throw keyAlreadyCreated(requestId, keyId)
      }
      this.assertRoom(fields.userId)
    }
    // Before the write as well: callers who repeat what is refused take no write lock.
    this.#database.snapshot(check)
    if (validateOnly) return issued
    return this.#database.write(() => {
      check()
      this.#insert(issued)
      return issued
    })
  }

  async rotate(
    { userId, keyId, overlapMs }: { userId: string; keyId: string; overlapMs: number },
    validateOnly = false,
  ): Promise<IssuedApiKey> {
    const check = () => {
      const old = this.get(userId, keyId)
      if (!old) throw keyNotFound(keyId)
      this.assertRoom(userId, overlapMs === 0 ? 1 : 0)
      return old
    }
    const issued = drawKey({ ...this.#database.snapshot(check), keyId: undefined }, this.#now())
    if (validateOnly) return issued
    return this.#database.write(() => {
      this.#end(check(), overlapMs)
      this.#insert(issued)
      return issued
    })
  }

  async revoke(userId: string, keyId: string): Promise<void> {
    const find = () => {
      const key = this.get(userId, keyId)
      if (!key) throw keyNotFound(keyId)
      return key
    }
    find()
    await this.#database.write(() => this.#end(find(), 0))
  }

  /** Creates a key inside a change. */
  insert(fields: KeyFields): IssuedApiKey {
    const issued = drawKey(fields, this.#now())
    this.#insert(issued)
    return issued
  }

  /**
   * Checks that a user may have one more live key.
   *
   * @param ending how many live keys of the user end in the same change.
   * @throws {ApiError} USER_NOT_FOUND, TOO_MANY_KEYS
   */
  assertRoom(userId: string, ending = 0): void {
    if (!this.#database.get('SELECT 1 FROM users WHERE userId = ?', userId)) throw userNotFound(userId)
    if (this.#countLive(userId) - ending >= maxLiveKeys) throw tooManyKeys(maxLiveKeys)
  }

  #insert({ key, apiKey }: IssuedApiKey): void {
    const { readOnly, createTime, expireTime, ...fields } = apiKey
    const row: Row = {
      ...(fields as unknown as Row),
      hash: hashApiKey(key),
      readOnly: Number(readOnly),
      createTime: createTime.getTime(),
      expireTime: expireTime?.getTime() ?? null,
    }
    this.#database.insert('keys', row)
    this.#deleteOldEnded(apiKey.userId)
  }

  #end({ keyId }: ApiKey, overlapMs: number): void {
    const now = this.#now().getTime()
    if (overlapMs === 0) {
      this.#database.run('UPDATE keys SET revokeTime = ? WHERE keyId = ?', now, keyId)
    } else {
      const sql = 'UPDATE keys SET expireTime = min(ifnull(expireTime, ?1), ?1) WHERE keyId = ?2'
      this.#database.run(sql, now + overlapMs, keyId)
    }
  }

  #countLive(userId: string): number {
    const sql = `SELECT count(*) AS total FROM keys WHERE ${liveSql}`
    return this.#database.get(sql, userId, this.#now().getTime())?.total as number
  }

  /** Bounds what the keys of a user take up. Keeps those that ended last. */
  #deleteOldEnded(userId: string): void {
    this.#database.run(
      `DELETE FROM keys WHERE keyId IN (
         SELECT keyId FROM keys WHERE userId = ? AND (revokeTime IS NOT NULL OR expireTime <= ?)
         ORDER BY ifnull(revokeTime, expireTime) DESC, createTime DESC, keyId DESC LIMIT -1 OFFSET ?)`,
      ...[userId, this.#now().getTime(), maxEndedKeys],
    )
  }
}
