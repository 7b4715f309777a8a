import type { Outcome } from '../../cli/outcome.ts'

/** The end of a key that is replaced. */
interface ReplacedKey {
  id: string
  expireTime?: Date | string | undefined
  revokeTime?: Date | string | undefined
}

/** The outcome of `key create`. */
export const createdKey = (id: string, key: string): Outcome => ({
  json: { id, key },
  text: `${key}\nThis is the only time that the key is shown. Its id is ${id}.`,
})

/** The outcome of `key rotate`. */
export const rotatedKey = (id: string, key: string, replaces: ReplacedKey): Outcome => {
  const { expireTime, revokeTime } = replaces
  const ended = revokeTime ? 'is revoked' : `works until ${new Date(expireTime!).toISOString()}`
  const created = createdKey(id, key)
  return { json: { id, key, replaces }, text: `${created.text}\nThe old key ${replaces.id} ${ended}.` }
}

/** The outcome of `key revoke`. */
export const revokedKey = (id: string): Outcome => ({ json: { id }, text: `Revoked the API key ${id}.` })
