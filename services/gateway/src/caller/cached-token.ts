/** Age up to which a token is reused, in milliseconds: half of its lifetime of a minute. */
const reuseMs = 30_000

/**
 * Returns a function that returns a signed token, and signs a new one once the last is older than 30 seconds.
 *
 * @param now the wall clock, as in the token's claims: a clock that is set forward or back also leads to a new token.
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
