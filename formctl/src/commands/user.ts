import type { Command } from 'commander'
import { withDirectory } from '../with-directory.ts'

export const addUserCommands = (formctl: Command): void => {
  const user = formctl.command('user').description('people, who act through API keys')

  user
    .command('create')
    .description('create a user')
    .requiredOption('--email <address>', 'unique, letter case ignored')
    .action(
      withDirectory<{ email: string }>(async (directory, options) => {
        const { userId, email } = await directory.createUser({ email: options.email })
        return { json: { id: userId }, text: `Created user ${email} with the id ${userId}.` }
      }),
    )
}
