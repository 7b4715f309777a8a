import type { Key } from '@fms/client'
import { type ApiKey, apiKeyEnded, type DirectoryStore, hasEnded, type User } from '@fms/directory-store'
import { type Api, withApiOr } from '../api/api.ts'
import { type Command, exampleKeyId, yesOption } from '../cli/command.ts'
import { parseDuration, parseFutureTime, parseTime, requireChange } from '../cli/option-values.ts'
import { listOutcome, type Outcome, shortTime, type Work } from '../cli/outcome.ts'
import { getKeyById, getUserByRef, withDirectory } from '../stores/open-stores.ts'

const dayMs = 86_400_000

/** By the API, the commands are for the keys of the user of FORMS_API_KEY. */
export const addKeyCommands = (formctl: Command): void => {
  const key = formctl.command('key').description('API keys, which act as their user')
  const id = ['<id>', 'the id that `key list` shows'] as const
  key
    .command('create')
    .description('create an API key; this is the only time that it is shown')
    .option('--user <ref>', 'id or e-mail address; with FORMS_API_URL, the user of FORMS_API_KEY')
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; without it the key does not expire', parseFutureTime)
    .option('--read-only', "reject every write, whatever the user's role")
    .action(withApiOr(withDirectory(createKey), createKeyByApi, ['user']))
    .examples(
      'key create --user ada@example.com --name laptop',
      'key create --user ada@example.com --name dashboard --read-only --expires 2126-11-20T09:30:00Z',
    )
  key
    .command('list')
    .description('list all API keys, oldest first; with FORMS_API_URL your own live keys, newest first')
    .action(withApiOr(withDirectory(listKeys), listKeysByApi))
    .examples('key list', 'key list --json')
  key
    .command('rotate')
    .description('replace an API key; the old key keeps working for a while')
    .argument(...id)
    .addOption(
      key
        .createOption(
          '--overlap <duration>',
          'how long both keys work, such as 90s, 30m, 24h, 7d; 0 revokes the old key',
        )
        .argParser(parseDuration)
        .default(dayMs, '24h'),
    )
    .option('--expires <time>', 'RFC 3339; without it the new key does not expire', parseFutureTime)
    .option(...yesOption)
    .action(withApiOr(withDirectory(rotateKey), rotateKeyByApi, ['expires']))
    .examples(`key rotate ${exampleKeyId}`, `key rotate ${exampleKeyId} --overlap 0 --yes`)
  key
    .command('update')
    .description('change name, expiry or rights of an API key; a change takes effect within a second')
    .argument(...id)
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; earlier or later than before', parseTime)
    .option('--read-only', 'reject every write from now on; for more rights, create another key')
    .action(withApiOr(withDirectory(updateKey), notByApi))
    .examples(
      `key update ${exampleKeyId} --name nightly`,
      `key update ${exampleKeyId} --read-only --expires 2126-11-20T09:30:00Z`,
    )
  key
    .command('revoke')
    .description('revoke an API key permanently, everywhere within a second')
    .argument(...id)
    .option(...yesOption)
    .action(withApiOr(withDirectory(revokeKey), revokeKeyByApi))
    .examples(`key revoke ${exampleKeyId}`, `key revoke ${exampleKeyId} --yes`)
}

const notByApi: Work<Api> = async () => {
  throw new Error('The API updates no keys. Unset FORMS_API_URL to change a key in the directory store.')
}

interface CreateOptions {
  user?: string
  name?: string
  expires?: Date
  readOnly?: boolean
}

const createKey: Work<DirectoryStore, CreateOptions> = async (directory, options, _operands, command) => {
  const { user, name, expires, readOnly } = options
  if (user === undefined) return command.error("error: required option '--user <ref>' not specified")
  const { userId } = await getUserByRef(directory, user)
  const { key, apiKey } = await directory.createKey({ userId, name, expireTime: expires, readOnly })
  return createdKey(apiKey.keyId, key)
}

const createKeyByApi: Work<Api, CreateOptions> = async (api, { name = 'formctl', expires, readOnly }) => {
  const { key, secret } = await api.keys.create({ name, readOnly, expireTime: expires?.toISOString() })
  return createdKey(idOf(key), secret)
}

const idOf = ({ path }: Pick<Key, 'path'>) => path.slice('keys/'.length)

const createdKey = (id: string, key: string): Outcome => ({
  json: { id, key },
  text: `${key}\nThis is the only time that the key is shown. Its id is ${id}.`,
})

const listKeys: Work<DirectoryStore> = async (directory) => {
  const [keys, users] = await Promise.all([directory.listKeys(), directory.listUsers()])
  const owners = new Map(users.map((user) => [user.userId, user]))
  const items = keys.map(({ keyId, ...rest }) => ({ id: keyId, ...rest }))
  return listOutcome('keys', items, noKeys, {
    id: ({ id }) => id,
    key: ({ prefix }) => `fms_${prefix}…`,
    user: ({ userId }) => owners.get(userId)?.email,
    name: ({ name }) => name,
    state: (key) => stateOf(key, owners.get(key.userId), new Date()),
    created: ({ createTime }) => shortTime(createTime),
    'last used': ({ lastUsedTime }) => shortTime(lastUsedTime),
  })
}

const noKeys = 'There are no API keys.'

/** What a key may do, or why it no longer works. */
const stateOf = (
  { readOnly, expireTime, revokeTime }: Pick<ApiKey, 'readOnly' | 'expireTime' | 'revokeTime'>,
  user: User | undefined,
  now: Date,
): string => {
  if (revokeTime) return `revoked ${shortTime(revokeTime)}`
  if (expireTime && expireTime <= now) return `expired ${shortTime(expireTime)}`
  if (user?.disableTime) return `user disabled ${shortTime(user.disableTime)}`
  return expireTime ? `${rightsOf(readOnly)} until ${shortTime(expireTime)}` : rightsOf(readOnly)
}

const rightsOf = (readOnly: boolean) => (readOnly ? 'reads' : 'reads, writes')

/** Live keys, newest first. */
const listKeysByApi: Work<Api> = async (api) => {
  const keys = await Array.fromAsync(api.keys.list({ pageSize: 1_000 }))
  const items = keys.map(({ path, ...rest }) => ({ id: idOf({ path }), ...rest }))
  return listOutcome('keys', items, noKeys, {
    id: ({ id }) => id,
    key: ({ prefix, current }) => `fms_${prefix}…${current ? ' (this one)' : ''}`,
    name: ({ name }) => name,
    rights: ({ readOnly }) => rightsOf(readOnly),
    expires: ({ expireTime }) => shortTextTime(expireTime),
    created: ({ createTime }) => shortTextTime(createTime),
    'last used': ({ lastUsedTime }) => shortTextTime(lastUsedTime),
  })
}

const shortTextTime = (time: string) => shortTime(time === '' ? undefined : new Date(time))

interface RotateOptions {
  /** Milliseconds. */
  overlap: number
  expires?: Date
}

const rotateKey: Work<DirectoryStore, RotateOptions> = async (directory, options, [id], command) => {
  const { overlap, expires } = options
  const old = await getKeyById(directory, id!)
  if (hasEnded(old, new Date())) throw apiKeyEnded(old.keyId)
  if (overlap === 0) await command.confirm(`Revoke the old key fms_${old.prefix}… immediately?`)

  const { userId, name, readOnly } = old
  const { key, apiKey } = await directory.createKey({ userId, name, readOnly, expireTime: expires })
  // After the new key is created, so that one of the two keys works at any time.
  const { expireTime, revokeTime } =
    overlap === 0
      ? await directory.revokeKey(old.keyId)
      : await directory.expireKey(old.keyId, new Date(Date.now() + overlap))
  return rotatedKey(apiKey.keyId, key, { id: old.keyId, ...(revokeTime ? { revokeTime } : { expireTime }) })
}

/** The new key has the expiry of the old one. */
const rotateKeyByApi: Work<Api, RotateOptions> = async (api, { overlap }, [id], command) => {
  if (overlap === 0) await command.confirm(`Revoke the old key ${id} immediately?`)
  const end = new Date(Date.now() + overlap)
  const { key, secret } = await api.keys.rotate(id!, { overlapSeconds: overlap / 1_000 })
  const expireTime = key.expireTime === '' ? end : new Date(key.expireTime)
  const ended = overlap === 0 ? { revokeTime: end } : { expireTime: expireTime < end ? expireTime : end }
  return rotatedKey(idOf(key), secret, { id: id!.toLowerCase(), ...ended })
}

/** @param replaces the old key, with its end. */
const rotatedKey = (
  id: string,
  key: string,
  replaces: { id: string; expireTime?: Date; revokeTime?: Date },
): Outcome => {
  const { expireTime, revokeTime } = replaces
  const ended = revokeTime ? 'is revoked' : `works until ${expireTime!.toISOString()}`
  const created = createdKey(id, key)
  return { json: { id, key, replaces }, text: `${created.text}\nThe old key ${replaces.id} ${ended}.` }
}

interface UpdateOptions {
  name?: string
  expires?: Date
  readOnly?: true
}

const updateKey: Work<DirectoryStore, UpdateOptions> = async (directory, options, [id], command) => {
  const change = { name: options.name, expireTime: options.expires, readOnly: options.readOnly }
  requireChange(command, change)
  const { keyId } = await directory.updateKey(id!, change)
  return { json: { id: keyId }, text: `Updated the API key ${keyId}.` }
}

const revokeKey: Work<DirectoryStore> = async (directory, _options, [id], command) => {
  const { prefix, name } = await getKeyById(directory, id!)
  const title = `the API key fms_${prefix}…${name === '' ? '' : ` ${JSON.stringify(name)}`}`
  await command.confirm(`Revoke ${title} permanently?`)
  return revokedKey((await directory.revokeKey(id!)).keyId)
}

const revokeKeyByApi: Work<Api> = async (api, _options, [id], command) => {
  await command.confirm(`Revoke the API key ${id} permanently?`)
  await api.keys.delete(id!)
  return revokedKey(id!.toLowerCase())
}

const revokedKey = (id: string): Outcome => ({ json: { id }, text: `Revoked the API key ${id}.` })
