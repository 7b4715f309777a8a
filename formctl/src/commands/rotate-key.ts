import { type ApiKey, apiKeyEnded, type DirectoryStore, hasEnded } from '@fms/directory-store'
import type { Command } from 'commander'
import { confirm, yesOption } from '../confirm.ts'
import { exampleKeyId, withExamples } from '../examples.ts'
import { parseDuration, parseTime } from '../option-values.ts'
import { theKey } from '../references.ts'
import { withDirectory } from '../with-directory.ts'

const dayMs = 86_400_000

interface RotateOptions {
  overlap: number
  expires?: Date
}

export const addRotateKeyCommand = (key: Command): void => {
  const rotate = key
    .command('rotate')
    .description('replace an API key by a new one, while the old one still works for a time')
    .argument('<id>', 'the id that `key list` shows')
    .addOption(
      key
        .createOption(
          '--overlap <duration>',
          'how long both work: such as 90s, 30m, 24h, 7d; 0 for not at all',
        )
        .argParser(parseDuration)
        .default(dayMs, '24h'),
    )
    .option('--expires <time>', 'RFC 3339; without it the new key does not expire', parseTime)
    .option(...yesOption)
    .action(
      withDirectory<RotateOptions>(async (directory, { overlap, expires }, [id], command) => {
        const old = await theKey(directory, id!)
        if (hasEnded(old, new Date())) throw apiKeyEnded(old.keyId)
        if (overlap === 0) await confirm(command, `End the old key fms_${old.prefix}… at once?`)

        const { userId, name, readOnly } = old
        const { key, apiKey } = await directory.createKey({ userId, name, readOnly, expireTime: expires })
        const { expireTime, revokeTime } = await end(directory, old.keyId, overlap)
        const ended = revokeTime ? 'is revoked' : `works until ${expireTime!.toISOString()}`
        return {
          json: { id: apiKey.keyId, key, replaces: { id: old.keyId, expireTime, revokeTime } },
          text: [
            key,
            `This is the only time that the key is shown. Its id is ${apiKey.keyId}.`,
            `The old key ${old.keyId} ${ended}.`,
          ].join('\n'),
        }
      }),
    )
  withExamples(rotate, `key rotate ${exampleKeyId}`, `key rotate ${exampleKeyId} --overlap 0 --yes`)
}

/** After the new key is there: whatever happens in between, one of the two works. */
const end = (directory: DirectoryStore, keyId: string, overlapMs: number): Promise<ApiKey> =>
  overlapMs === 0 ? directory.revokeKey(keyId) : directory.expireKey(keyId, new Date(Date.now() + overlapMs))
