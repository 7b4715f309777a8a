import { loginCodeLifetimeMs } from '@fms/contracts'
import type { Command } from 'commander'
import { baseUrlOf } from '../api/api.ts'
import { addExamples } from '../cli/examples.ts'
import { parseBaseUrl } from '../cli/option-values.ts'
import { shortTime } from '../cli/outcome.ts'
import { getUserByRef, withDirectory } from '../stores/stores.ts'

export const addUserCommands = (formctl: Command): void => {
  const user = formctl.command('user').description('people, who act through API keys')
  addCreateUserCommand(user)
  addListUsersCommand(user)
  addDisableUserCommand(user)
  addEnableUserCommand(user)
  addLoginLinkCommand(user)
}

const addCreateUserCommand = (user: Command): void => {
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
  addExamples(create, 'user create --email grace@example.com')
}

const addListUsersCommand = (user: Command): void => {
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
  addExamples(list, 'user list', 'user list --json')
}

const addDisableUserCommand = (user: Command): void => {
  const disable = user
    .command('disable')
    .description('reject all keys of a user, everywhere within a second, until the user is enabled')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .action(
      withDirectory<{ user: string }>(async (directory, { user: ref }) => {
        const { userId, email, disableTime } = await directory.disableUser(ref)
        const since = disableTime!.toISOString()
        return { json: { id: userId, disableTime }, text: `${email} is disabled since ${since}.` }
      }),
    )
  addExamples(disable, 'user disable --user ada@example.com')
}

const addEnableUserCommand = (user: Command): void => {
  const enable = user
    .command('enable')
    .description('accept the keys of a disabled user again')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .action(
      withDirectory<{ user: string }>(async (directory, { user: ref }) => {
        const { userId, email } = await directory.enableUser(ref)
        return { json: { id: userId }, text: `${email} is enabled.` }
      }),
    )
  addExamples(enable, 'user enable --user ada@example.com')
}

/** That of the gateway under `npm start`. */
const defaultBaseUrl = 'http://127.0.0.1:8080/v2'

/** Adds `user login-link`. */
const addLoginLinkCommand = (user: Command): void => {
  const loginLink = user
    .command('login-link')
    .description('print a link with which a user signs in to the console, once and within 15 minutes')
    .requiredOption('--user <ref>', 'id or e-mail address')
    .option('--url <base>', `base URL of the API (default: FORMS_API_URL or ${defaultBaseUrl})`, parseBaseUrl)
    .action(
      withDirectory<{ user: string; url?: string }>(async (directory, { user: ref, url }) => {
        const base = url ?? baseUrlOf(process.env.FORMS_API_URL || defaultBaseUrl)
        const { userId, email } = await getUserByRef(directory, ref)
        const expireTime = new Date(Date.now() + loginCodeLifetimeMs)
        const code = await directory.createLoginCode(userId, expireTime)
        const link = `${base}/console#code=${code}`
        return {
          json: { url: link, code, expireTime },
          text: `${link}\nThe link signs in as ${email}, once and until ${expireTime.toISOString()}.`,
        }
      }),
    )
  addExamples(
    loginLink,
    'user login-link --user ada@example.com',
    'user login-link --user ada@example.com --url https://forms.example.com/v2',
  )
}
