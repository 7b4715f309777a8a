import type { Command } from 'commander'
import { withExamples } from '../examples.ts'
import { shortTime } from '../table.ts'
import { withDirectory } from '../with-directory.ts'

export const addUserCommands = (formctl: Command): void => {
  const user = formctl.command('user').description('people, who act through API keys')

  const create = user
    .command('create')
    .description('create a user')
    .requiredOption('--email <address>', 'unique, letter case ignored')
    .action(
      withDirectory<{ email: string }>(async (directory, options) => {
        const { userId, email } = await directory.createUser({ email: options.email })
        return { json: { id: userId }, text: `Created user ${email} with the id ${userId}.` }
      }),
    )
  withExamples(create, 'user create --email grace@example.com')

  const list = user
    .command('list')
    .description('list all users, oldest first')
    .action(
      withDirectory(async (directory) => {
        const users = await directory.listUsers()
        return {
          json: { users: users.map(({ userId, ...rest }) => ({ id: userId, ...rest })) },
          text: 'There are no users.',
          table: {
            columns: ['id', 'email', 'created'],
            rows: users.map(({ userId, email, createTime }) => [userId, email, shortTime(createTime)]),
          },
        }
      }),
    )
  withExamples(list, 'user list', 'user list --json')
}
