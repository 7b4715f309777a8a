/** Tokens live for a minute; one that has less than half of it left is signed anew. */
const reuseMs = 30_000

/**
 * A source of tokens that signs when it has to, not for every request. By the time of day, as tokens have it: a clock
 * that was put forward or back means another token.
 */
export const createCachedToken = (sign: () => string, now = Date.now): (() => string) => {
  let token = ''
  let signedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (Math.abs(now() - signedAt) > reuseMs) {
      token = sign()
      signedAt = now()
    }
    return token
  }
}
