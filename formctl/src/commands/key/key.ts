import type { ApiKey } from '@fms/directory-store'
import type { Command } from 'commander'
import { confirm, yesOption } from '../../cli/confirm.ts'
import { addExamples, exampleKeyId } from '../../cli/examples.ts'
import { parseTime } from '../../cli/option-values.ts'
import { getKeyById, getUserByRef } from '../../stores/get-by-ref.ts'
import { withDirectory } from '../../stores/with-directory.ts'
import { addListKeysCommand } from './list-keys.ts'
import { addRotateKeyCommand } from './rotate-key.ts'
import { addUpdateKeyCommand } from './update-key.ts'

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
    .requiredOption('--user <ref>', 'id or e-mail address')
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; without it the key does not expire', parseTime)
    .option('--read-only', "reject every write, whatever the user's role")
    .action(
      withDirectory<{ user: string; name?: string; expires?: Date; readOnly?: boolean }>(
        async (directory, { user, name, expires, readOnly }) => {
          const { userId } = await getUserByRef(directory, user)
          const { key, apiKey } = await directory.createKey({ userId, name, expireTime: expires, readOnly })
          return {
            json: { id: apiKey.keyId, key },
            text: `${key}\nThis is the only time that the key is shown. Its id is ${apiKey.keyId}.`,
          }
        },
      ),
    )
  addExamples(
    create,
    'key create --user ada@example.com --name laptop',
    'key create --user ada@example.com --name dashboard --read-only --expires 2126-11-20T09:30:00Z',
  )
}

const addRevokeKeyCommand = (key: Command): void => {
  const revoke = key
    .command('revoke')
    .description('revoke an API key permanently, everywhere within a second')
    .argument('<id>', 'the id that `key list` shows')
    .option(...yesOption)
    .action(
      withDirectory(async (directory, _options, [id], command) => {
        await confirm(command, `Revoke ${titleOf(await getKeyById(directory, id!))} permanently?`)
        const { keyId } = await directory.revokeKey(id!)
        return { json: { id: keyId }, text: `Revoked the API key ${keyId}.` }
      }),
    )
  addExamples(revoke, `key revoke ${exampleKeyId}`, `key revoke ${exampleKeyId} --yes`)
}

const titleOf = ({ prefix, name }: ApiKey) =>
  `the API key fms_${prefix}…${name === '' ? '' : ` ${JSON.stringify(name)}`}`
