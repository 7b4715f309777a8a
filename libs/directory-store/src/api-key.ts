import { createHash, randomBytes } from 'node:crypto'

const keyStart = 'fms_'

/** The format of an API key: `fms_` and 32 bytes as base64url. */
export const API_KEY_PATTERN = /^fms_[A-Za-z0-9_-]{43}$/

/** Creates an API key with 256 random bits. */
export const makeApiKey = (): string => keyStart + randomBytes(32).toString('base64url')

/** The SHA-256 of the whole key, base64url. Stores hold this hash and never the key. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** The first 8 characters after `fms_`, by which people recognise a key. */
export const apiKeyPrefix = (key: string): string => key.slice(keyStart.length, keyStart.length + 8)

/** Whether a key is revoked or expired. A key expires at its `expireTime`, not after it. */
export const hasEnded = (
  { revokeTime, expireTime }: { revokeTime?: Date; expireTime?: Date },
  now: Date,
): boolean => revokeTime !== undefined || (expireTime !== undefined && expireTime <= now)
