import type { Key } from '@fms/client'
import type { Command } from 'commander'
import type { Api } from '../api/api.ts'
import { type Outcome, shortTime } from '../cli/outcome.ts'
import { confirm } from '../cli/terminal.ts'

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

export interface CreateOptions {
  user?: string
  name?: string
  expires?: Date
  readOnly?: boolean
}

export interface RotateOptions {
  /** Milliseconds. */
  overlap: number
  expires?: Date
}

const idOf = ({ path }: Pick<Key, 'path'>) => path.slice('keys/'.length)

/** Creates a key of the user of FORMS_API_KEY. */
export const createKeyByApi = async (
  api: Api,
  { name = 'formctl', expires, readOnly }: CreateOptions,
): Promise<Outcome> => {
  const { key, secret } = await api.keys.create({ name, readOnly, expireTime: expires?.toISOString() })
  return createdKey(idOf(key), secret)
}

/** Lists the live keys of the user of FORMS_API_KEY, newest first. */
export const listKeysByApi = async (api: Api): Promise<Outcome> => {
  const keys = await Array.fromAsync(api.keys.list({ pageSize: 1_000 }))
  return {
    json: { keys: keys.map(({ path, ...rest }) => ({ id: idOf({ path }), ...rest })) },
    text: 'There are no API keys.',
    table: {
      columns: ['id', 'key', 'name', 'rights', 'expires', 'created', 'last used'],
      rows: keys.map((key) => [
        idOf(key),
        `fms_${key.prefix}…${key.current ? ' (this one)' : ''}`,
        key.name,
        key.readOnly ? 'reads' : 'reads, writes',
        shortTimeOf(key.expireTime),
        shortTimeOf(key.createTime),
        shortTimeOf(key.lastUsedTime),
      ]),
    },
  }
}

const shortTimeOf = (time: string) => shortTime(time === '' ? undefined : new Date(time))

/** Replaces a key of the user of FORMS_API_KEY by one with the same expiry. */
export const rotateKeyByApi = async (
  api: Api,
  { overlap }: RotateOptions,
  [id]: string[],
  command: Command,
): Promise<Outcome> => {
  if (overlap === 0) await confirm(command, `Revoke the old key ${id} immediately?`)
  const now = Date.now()
  const { key, secret } = await api.keys.rotate(id!, { overlapSeconds: overlap / 1_000 })
  const end = new Date(now + overlap).toISOString()
  // The new key has the expireTime of the old one, which may come before the end of the overlap.
  const expiresFirst = key.expireTime !== '' && key.expireTime < end
  const ended = overlap === 0 ? { revokeTime: end } : { expireTime: expiresFirst ? key.expireTime : end }
  return rotatedKey(idOf(key), secret, { id: id!.toLowerCase(), ...ended })
}

/** Revokes a key of the user of FORMS_API_KEY. */
export const revokeKeyByApi = async (
  api: Api,
  _options: object,
  [id]: string[],
  command: Command,
): Promise<Outcome> => {
  await confirm(command, `Revoke the API key ${id} permanently?`)
  await api.keys.delete(id!)
  return revokedKey(id!.toLowerCase())
}
