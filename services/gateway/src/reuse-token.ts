/** Tokens live for a minute; one that has less than half of it left is signed anew. */
const reuseMs = 30_000

/** A source of tokens that signs when it has to, not for every request. */
export const reuseToken = (sign: () => string, now: () => number): (() => string) => {
  let token = ''
  let signedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - signedAt > reuseMs) {
      token = sign()
      signedAt = now()
    }
    return token
  }
}
