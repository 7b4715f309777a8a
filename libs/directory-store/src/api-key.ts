import { createHash, hash, randomBytes, randomUUID } from 'node:crypto'
import type { ApiKey, IssuedApiKey } from './resources.ts'

export { API_KEY_PATTERN } from '@fms/contracts'

const keyStart = 'fms_'

/** Creates an API key with 256 random bits. */
export const makeApiKey = (): string => keyStart + randomBytes(32).toString('base64url')

/**
 * The SHA-256 of a whole key or login code, base64url. Stores hold this hash and never the secret, and look the hash up, so
 * that the time does not depend on how much of a secret is right.
 */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'base64url')

/**
 * A UUIDv8 (RFC 9562 §5.8) from the SHA-256 of the user and a `requestId` in any letter case: the primary key of a store
 * makes the `requestId` unique for the user.
 */
export const keyIdOfRequest = (userId: string, requestId: string): string => {
  const bytes = createHash('sha256').update(`${userId} ${requestId.toLowerCase()}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The first 8 characters after `fms_`, by which people recognise a key. */
export const apiKeyPrefix = (key: string): string => key.slice(keyStart.length, keyStart.length + 8)

/** What a new key has. Its text and its `keyId` are random by default. */
export type KeyFields = Pick<ApiKey, 'userId' | 'name' | 'readOnly'> & {
  keyId?: string | undefined
  key?: string | undefined
  expireTime?: Date | undefined
}

export const drawKey = (
  { keyId = randomUUID(), key = makeApiKey(), userId, name, readOnly, expireTime }: KeyFields,
  createTime: Date,
): IssuedApiKey => {
  const fields = { keyId, prefix: apiKeyPrefix(key), userId, name, readOnly, createTime }
  return { key, apiKey: { ...fields, ...(expireTime && { expireTime }) } }
}

/** How many revoked or expired keys of a user stay stored when the user creates further ones with the API. */
export const maxEndedKeys = 1_000

/** Whether a key, or its row, is revoked or expired. A key expires at its `expireTime`, not after it. */
export const hasEnded = (
  { revokeTime, expireTime }: { [Name in 'revokeTime' | 'expireTime']?: Date | number | null },
  now: Date,
): boolean => revokeTime != null || +(expireTime ?? Number.POSITIVE_INFINITY) <= +now
