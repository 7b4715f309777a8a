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
            columns: ['id', 'email', 'created', 'disabled'],
            rows: users.map(({ userId, email, createTime, disableTime }) => [
              userId,
              email,
              shortTime(createTime),
              shortTime(disableTime),
            ]),
          },
        }
      }),
    )
  withExamples(list, 'user list', 'user list --json')

  const disable = user
    .command('disable')
    .description('refuse all keys of a user, everywhere within a second, until they are enabled')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .action(
      withDirectory<{ user: string }>(async (directory, { user: ref }) => {
        const { userId, email, disableTime } = await directory.disableUser(ref)
        const since = disableTime!.toISOString()
        return { json: { id: userId, disableTime }, text: `${email} is disabled since ${since}.` }
      }),
    )
  withExamples(disable, 'user disable --user ada@example.com')

  const enable = user
    .command('enable')
    .description('accept the keys of a user again who is disabled')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .action(
      withDirectory<{ user: string }>(async (directory, { user: ref }) => {
        const { userId, email } = await directory.enableUser(ref)
        return { json: { id: userId }, text: `${email} is enabled.` }
      }),
    )
  withExamples(enable, 'user enable --user ada@example.com')
}
