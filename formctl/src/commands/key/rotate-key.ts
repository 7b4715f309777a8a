import { type ApiKey, apiKeyEnded, type DirectoryStore, hasEnded } from '@fms/directory-store'
import type { Command } from 'commander'
import { withApiOr } from '../../api/api.ts'
import { confirm, yesOption } from '../../cli/confirm.ts'
import { addExamples, exampleKeyId } from '../../cli/examples.ts'
import { parseDuration, parseFutureTime } from '../../cli/option-values.ts'
import type { Outcome } from '../../cli/outcome.ts'
import { getKeyById } from '../../stores/get-by-ref.ts'
import { withDirectory } from '../../stores/with-directory.ts'
import { rotatedKey } from './key-outcomes.ts'
import { type RotateOptions, rotateKeyByApi } from './keys-by-api.ts'

const dayMs = 86_400_000

export const addRotateKeyCommand = (key: Command): void => {
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
