import type { ApiKey, DirectoryStore } from '@fms/directory-store'
import type { Command } from 'commander'
import { withApiOr } from '../../api/api.ts'
import { confirm, yesOption } from '../../cli/confirm.ts'
import { addExamples, exampleKeyId } from '../../cli/examples.ts'
import { parseFutureTime } from '../../cli/option-values.ts'
import type { Outcome } from '../../cli/outcome.ts'
import { getKeyById, getUserByRef } from '../../stores/get-by-ref.ts'
import { withDirectory } from '../../stores/with-directory.ts'
import { createdKey, revokedKey } from './key-outcomes.ts'
import { type CreateOptions, createKeyByApi, revokeKeyByApi } from './keys-by-api.ts'
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
