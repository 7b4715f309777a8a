import { createHash, randomBytes } from 'node:crypto'

/** Creates a login code with 256 random bits. */
export const makeLoginCode = (): string => randomBytes(32).toString('base64url')

/**
 * The SHA-256 of a login code, base64url. Stores hold this hash and look it up, so the time of a look-up does not depend
 * on how much of a code is right.
 */
export const hashLoginCode = (code: string): string => createHash('sha256').update(code).digest('base64url')
