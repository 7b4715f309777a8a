import { type ApiKey, apiKeyEnded, type DirectoryStore, hasEnded, type User } from '@fms/directory-store'
import type { Command } from 'commander'
import { withApiOr } from '../api/api.ts'
import { addExamples, exampleKeyId } from '../cli/examples.ts'
import { parseDuration, parseFutureTime, parseTime, requireChange } from '../cli/option-values.ts'
import { type Outcome, shortTime } from '../cli/outcome.ts'
import { confirm, yesOption } from '../cli/terminal.ts'
import { getKeyById, getUserByRef, withDirectory } from '../stores/stores.ts'
import {
  type CreateOptions,
  createdKey,
  createKeyByApi,
  listKeysByApi,
  type RotateOptions,
  revokedKey,
  revokeKeyByApi,
  rotatedKey,
  rotateKeyByApi,
} from './keys-by-api.ts'

export const addKeyCommands = (formctl: Command): void => {
  const key = formctl.command('key').description('API keys, which act as their user')
  addCreateKeyCommand(key)
  addListKeysCommand(key)
  addRotateKeyCommand(key)
  addUpdateKeyCommand(key)
  addRevokeKeyCommand(key)
}

const addCreateKeyCommand = (key: Command): void => {
  const create = key
    .command('create')
    .description('create an API key; this is the only time that it is shown')
    .option('--user <ref>', 'id or e-mail address; with FORMS_API_URL, the user of FORMS_API_KEY')
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; without it the key does not expire', parseFutureTime)
    .option('--read-only', "reject every write, whatever the user's role")
    .action(withApiOr<CreateOptions>(withDirectory(createKeyInDirectory), ['user'], createKeyByApi))
  addExamples(
    create,
    'key create --user ada@example.com --name laptop',
    'key create --user ada@example.com --name dashboard --read-only --expires 2126-11-20T09:30:00Z',
  )
}

const createKeyInDirectory = async (
  directory: DirectoryStore,
  { user, name, expires, readOnly }: CreateOptions,
  _operands: string[],
  command: Command,
): Promise<Outcome> => {
  if (user === undefined) command.error("error: required option '--user <ref>' not specified")
  const { userId } = await getUserByRef(directory, user)
  const { key, apiKey } = await directory.createKey({ userId, name, expireTime: expires, readOnly })
  return createdKey(apiKey.keyId, key)
}

const addRevokeKeyCommand = (key: Command): void => {
  const revoke = key
    .command('revoke')
    .description('revoke an API key permanently, everywhere within a second')
    .argument('<id>', 'the id that `key list` shows')
    .option(...yesOption)
    .action(
      withApiOr(
        withDirectory(async (directory, _options, [id], command) => {
          await confirm(command, `Revoke ${titleOf(await getKeyById(directory, id!))} permanently?`)
          return revokedKey((await directory.revokeKey(id!)).keyId)
        }),
        [],
        revokeKeyByApi,
      ),
    )
  addExamples(revoke, `key revoke ${exampleKeyId}`, `key revoke ${exampleKeyId} --yes`)
}

const titleOf = ({ prefix, name }: ApiKey) =>
  `the API key fms_${prefix}…${name === '' ? '' : ` ${JSON.stringify(name)}`}`

const addListKeysCommand = (key: Command): void => {
  const list = key
    .command('list')
    .description('list all API keys, oldest first; with FORMS_API_URL your own live keys, newest first')
    .action(withApiOr(withDirectory(listAllKeys), [], listKeysByApi))
  addExamples(list, 'key list', 'key list --json')
}

const listAllKeys = async (directory: DirectoryStore): Promise<Outcome> => {
  const [keys, users] = await Promise.all([directory.listKeys(), directory.listUsers()])
  const owners = new Map(users.map((user) => [user.userId, user]))
  return {
    json: { keys: keys.map(({ keyId, ...rest }) => ({ id: keyId, ...rest })) },
    text: 'There are no API keys.',
    table: {
      columns: ['id', 'key', 'user', 'name', 'state', 'created', 'last used'],
      rows: keys.map((key) => [
        key.keyId,
        `fms_${key.prefix}…`,
        owners.get(key.userId)?.email,
        key.name,
        stateOf(key, owners.get(key.userId), new Date()),
        shortTime(key.createTime),
        shortTime(key.lastUsedTime),
      ]),
    },
  }
}

/** What a key may do, or why it no longer works. */
const stateOf = ({ readOnly, expireTime, revokeTime }: ApiKey, user: User | undefined, now: Date): string => {
  if (revokeTime) return `revoked ${shortTime(revokeTime)}`
  if (expireTime && expireTime <= now) return `expired ${shortTime(expireTime)}`
  if (user?.disableTime) return `user disabled ${shortTime(user.disableTime)}`
  const rights = readOnly ? 'reads' : 'reads, writes'
  return expireTime ? `${rights} until ${shortTime(expireTime)}` : rights
}

const dayMs = 86_400_000

const addRotateKeyCommand = (key: Command): void => {
  const rotate = key
    .command('rotate')
    .description('replace an API key; the old key keeps working for a while')
    .argument('<id>', 'the id that `key list` shows')
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
    .action(withApiOr<RotateOptions>(withDirectory(rotateInDirectory), ['expires'], rotateKeyByApi))
  addExamples(rotate, `key rotate ${exampleKeyId}`, `key rotate ${exampleKeyId} --overlap 0 --yes`)
}

const rotateInDirectory = async (
  directory: DirectoryStore,
  { overlap, expires }: RotateOptions,
  [id]: string[],
  command: Command,
): Promise<Outcome> => {
  const old = await getKeyById(directory, id!)
  if (hasEnded(old, new Date())) throw apiKeyEnded(old.keyId)
  if (overlap === 0) await confirm(command, `Revoke the old key fms_${old.prefix}… immediately?`)

  const { userId, name, readOnly } = old
  const { key, apiKey } = await directory.createKey({ userId, name, readOnly, expireTime: expires })
  const { expireTime, revokeTime } = await endOldKey(directory, old.keyId, overlap)
  return rotatedKey(apiKey.keyId, key, { id: old.keyId, expireTime, revokeTime })
}

/** Called after the new key is created, so that one of the two keys works at any time. */
const endOldKey = (directory: DirectoryStore, keyId: string, overlapMs: number): Promise<ApiKey> =>
  overlapMs === 0 ? directory.revokeKey(keyId) : directory.expireKey(keyId, new Date(Date.now() + overlapMs))

interface UpdateOptions {
  name?: string
  expires?: Date
  readOnly?: true
}

const addUpdateKeyCommand = (key: Command): void => {
  const update = key
    .command('update')
    .description('change name, expiry or rights of an API key; a change takes effect within a second')
    .argument('<id>', 'the id that `key list` shows')
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; earlier or later than before', parseTime)
    .option('--read-only', 'reject every write from now on; for more rights, create another key')
    .action(
      withDirectory<UpdateOptions>(async (directory, { name, expires, readOnly }, [id], command) => {
        const change = { name, expireTime: expires, readOnly }
        requireChange(command, change)
        const { keyId } = await directory.updateKey(id!, change)
        return { json: { id: keyId }, text: `Updated the API key ${keyId}.` }
      }),
    )
  addExamples(
    update,
    `key update ${exampleKeyId} --name nightly`,
    `key update ${exampleKeyId} --read-only --expires 2126-11-20T09:30:00Z`,
  )
}
