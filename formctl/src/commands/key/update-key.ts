import type { Command } from 'commander'
import { addExamples, exampleKeyId } from '../../cli/examples.ts'
import { parseTime, requireChange } from '../../cli/option-values.ts'
import { withDirectory } from '../../stores/with-directory.ts'

interface UpdateOptions {
  name?: string
  expires?: Date
  readOnly?: true
}

export const addUpdateKeyCommand = (key: Command): void => {
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
