import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { ApiError } from './errors.ts'
import type { Json } from './json.ts'

// token = base64url( version nonce ciphertext tag )
const version = Buffer.of(1)
const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/** Scopes, positions and tokens that are remembered, in characters: some 500 of usual length. */
const maxRemembered = 128 * 1024

/** Makes and reads page tokens. */
export interface PageTokens {
  /**
   * @param scope what the token holds for: parent, user where it matters, filter and orderBy. JSON.stringify of
   *   an array keeps the parts apart.
   * @param position the sort key of the last item on the page.
   * @returns base64url text that tells nothing and cannot be made without the secret. A place that was sealed lately
   *   has the token that it got then, since sealing costs a tenth of a list.
   */
  seal(scope: string, position: Json[]): string

  /**
   * @returns the position that was sealed.
   * @throws {ApiError} INVALID_PAGE_TOKEN (400) for all that was not sealed here for this very scope.
   */
  open(scope: string, token: string): Json[]
}

/** The token was not sealed here for this list. */
export const invalidPageToken = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'INVALID_PAGE_TOKEN',
    'The pageToken does not belong to this list. Start over from the first page, without pageToken, ' +
      'and keep filter and orderBy the same from page to page.',
  )

const deriveKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'page-token v1', 32)))

/** The sealed bytes in clear, or undefined when another key, another scope or a forger made them. */
const decrypt = (key: KeyObject, scope: string, bytes: Buffer): string | undefined => {
  const [nonceEnd, tagStart] = [version.length + nonceBytes, bytes.length - tagBytes]
  const nonce = bytes.subarray(version.length, nonceEnd)
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(scope)).setAuthTag(bytes.subarray(tagStart))
  try {
    return decipher.update(bytes.subarray(nonceEnd, tagStart), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return undefined
  }
}

/**
 * Page tokens (AIP-158) that are opaque, bound to a scope and forgery-proof: AES-256-GCM under a key that HKDF
 * (RFC 5869) derives from a secret, with the scope as additional data. They need no store and outlive a restart.
 *
 * @param secrets the first seals, all of them open: put a new one in front to rotate. Random nonces are sound
 *   for 2^32 tokens under one secret (NIST SP 800-38D §8.3).
 */
export const createPageTokens = (secrets: readonly string[]): PageTokens => {
  const keys = secrets.map(deriveKey)
  const [sealingKey] = keys
  if (!sealingKey) throw new Error('Page tokens need at least one secret')

  const remembered = new LRUCache<string, string>({
    maxSize: maxRemembered,
    sizeCalculation: (token, place) => token.length + place.length,
  })

  const encrypt = (scope: string, plaintext: string): string => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, sealingKey, nonce, { authTagLength: tagBytes })
    cipher.setAAD(Buffer.from(scope))
    const ciphertext = [cipher.update(plaintext, 'utf8'), cipher.final()]
    return Buffer.concat([version, nonce, ...ciphertext, cipher.getAuthTag()]).toString('base64url')
  }

  return {
    seal(scope, position) {
      const plaintext = JSON.stringify(position)
      // JSON holds no line break, so that the last one stands between the two.
      const place = `${scope}\n${plaintext}`
      const known = remembered.get(place)
      if (known !== undefined) return known
      const token = encrypt(scope, plaintext)
      remembered.set(place, token)
      return token
    },

    open(scope, token) {
      const bytes = Buffer.from(token, 'base64url')
      const wellFormed =
        bytes.length > version.length + nonceBytes + tagBytes &&
        bytes[0] === version[0] &&
        bytes.toString('base64url') === token
      if (!wellFormed) throw invalidPageToken()
      for (const key of keys) {
        const position = decrypt(key, scope, bytes)
        if (position !== undefined) return JSON.parse(position)
      }
      throw invalidPageToken()
    },
  }
}
