import type { ApiKey } from '@fms/directory-store'
import type { Command } from 'commander'
import { parseTime } from '../option-values.ts'
import { theUser } from '../references.ts'
import { withDirectory } from '../with-directory.ts'

export const addKeyCommands = (formctl: Command): void => {
  const key = formctl.command('key').description('API keys, which act as their user')

  key
    .command('create')
    .description('create an API key and show it, this once')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .option('--name <name>', 'for people, at most 80 characters')
    .option('--expires <time>', 'RFC 3339; without it the key does not expire', parseTime)
    .option('--read-only', "refuse every write, whatever the user's role")
    .action(
      withDirectory<{ user: string; name?: string; expires?: Date; readOnly?: boolean }>(
        async (directory, { user, name, expires, readOnly }) => {
          const { userId } = await theUser(directory, user)
          const { key, apiKey } = await directory.createKey({ userId, name, expireTime: expires, readOnly })
          return {
            json: { id: apiKey.keyId, key },
            text: `${key}\nThis is the only time that the key is shown. Its id is ${apiKey.keyId}.`,
          }
        },
      ),
    )

  key
    .command('list')
    .description('list all API keys, oldest first')
    .action(
      withDirectory(async (directory) => {
        const keys = await directory.listKeys()
        return {
          json: { keys: keys.map(({ keyId, ...rest }) => ({ id: keyId, ...rest })) },
          text: keys.length === 0 ? 'There are no API keys.' : keys.map(lineOf).join('\n'),
        }
      }),
    )

  key
    .command('revoke')
    .description('end an API key for good')
    .argument('<id>', 'the id that `key list` shows')
    .action(
      withDirectory(async (directory, _options, [id]) => {
        const { keyId } = await directory.revokeKey(id!)
        return { json: { id: keyId }, text: `Revoked the API key ${keyId}.` }
      }),
    )
}

const lineOf = (key: ApiKey): string =>
  [
    key.keyId,
    `fms_${key.prefix}…`,
    `user ${key.userId}`,
    key.name && JSON.stringify(key.name),
    key.readOnly && 'read-only',
    `created ${key.createTime.toISOString()}`,
    key.lastUsedTime && `last used ${key.lastUsedTime.toISOString()}`,
    key.expireTime && `expires ${key.expireTime.toISOString()}`,
    key.revokeTime && `revoked ${key.revokeTime.toISOString()}`,
  ]
    .filter(Boolean)
    .join('  ')
