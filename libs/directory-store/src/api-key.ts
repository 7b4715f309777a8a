import { createHash, randomBytes } from 'node:crypto'

const marker = 'fms_'

/** An API key: `fms_` and the base64url text of 32 bytes. */
export const API_KEY_PATTERN = /^fms_[A-Za-z0-9_-]{43}$/

/** A new key of 256 random bits. */
export const makeApiKey = (): string => marker + randomBytes(32).toString('base64url')

/** The SHA-256 of a key's whole text, base64url: all that is ever stored of the secret. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** The first 8 characters after `fms_`, by which people tell their keys apart. */
export const apiKeyPrefix = (key: string): string => key.slice(marker.length, marker.length + 8)

/** Whether a key is revoked, or expired at `now`. */
export const hasEnded = (
  { revokeTime, expireTime }: { revokeTime?: Date; expireTime?: Date },
  now: Date,
): boolean => revokeTime !== undefined || (expireTime !== undefined && expireTime <= now)
