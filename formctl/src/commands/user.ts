import { loginCodeLifetimeMs } from '@fms/contracts'
import type { DirectoryStore } from '@fms/directory-store'
import { baseUrlOf } from '../api/api.ts'
import type { Command } from '../cli/command.ts'
import { parseBaseUrl } from '../cli/option-values.ts'
import { listOutcome, shortTime, type Work } from '../cli/outcome.ts'
import { getUserByRef, withDirectory } from '../stores/open-stores.ts'
import { readBaseUrl } from '../stores/running-system.ts'

/** That of `npm start` without variables. */
const defaultBaseUrl = 'http://127.0.0.1:8080/v2'

const userOption = ['--user <ref>', 'id or e-mail address'] as const

export const addUserCommands = (formctl: Command): void => {
  const user = formctl.command('user').description('people, who act through API keys')
  user
    .command('create')
    .description('create a user')
    .requiredOption('--email <address>', 'unique, letter case ignored')
    .action(withDirectory(createUser))
    .examples('user create --email grace@example.com')
  user
    .command('list')
    .description('list all users, oldest first')
    .action(withDirectory(listUsers))
    .examples('user list', 'user list --json')
  user
    .command('disable')
    .description('reject all keys of a user, everywhere within a second, until the user is enabled')
    .requiredOption(...userOption)
    .action(withDirectory(disableUser))
    .examples('user disable --user ada@example.com')
  user
    .command('enable')
    .description('accept the keys of a disabled user again')
    .requiredOption(...userOption)
    .action(withDirectory(enableUser))
    .examples('user enable --user ada@example.com')
  user
    .command('login-link')
    .description('print a link with which a user signs in to the console, once and within 15 minutes')
    .requiredOption(...userOption)
    .option(
      '--url <base>',
      `base URL of the API (default: FORMS_API_URL, or that of npm start in DATA_DIR)`,
      parseBaseUrl,
    )
    .action(withDirectory(createLoginLink))
    .examples(
      'user login-link --user ada@example.com',
      'user login-link --user ada@example.com --url https://forms.example.com/v2',
    )
}

const createUser: Work<DirectoryStore, { email: string }> = async (directory, options) => {
  const { userId, email } = await directory.createUser({ email: options.email })
  return { json: { id: userId }, text: `Created user ${email} with the id ${userId}.` }
}

const listUsers: Work<DirectoryStore> = async (directory) => {
  const users = await directory.listUsers()
  const items = users.map(({ userId, ...rest }) => ({ id: userId, ...rest }))
  return listOutcome('users', items, 'There are no users.', {
    id: ({ id }) => id,
    email: ({ email }) => email,
    created: ({ createTime }) => shortTime(createTime),
    disabled: ({ disableTime }) => shortTime(disableTime),
  })
}

const disableUser: Work<DirectoryStore, { user: string }> = async (directory, { user }) => {
  const { userId, email, disableTime } = await directory.disableUser(user)
  const since = disableTime!.toISOString()
  return { json: { id: userId, disableTime }, text: `${email} is disabled since ${since}.` }
}

const enableUser: Work<DirectoryStore, { user: string }> = async (directory, { user }) => {
  const { userId, email } = await directory.enableUser(user)
  return { json: { id: userId }, text: `${email} is enabled.` }
}

const createLoginLink: Work<DirectoryStore, { user: string; url?: string }> = async (
  directory,
  { user, url },
) => {
  const base = url ?? baseUrlOf(process.env.FORMS_API_URL || (readBaseUrl(process.env) ?? defaultBaseUrl))
  const { userId, email } = await getUserByRef(directory, user)
  const expireTime = new Date(Date.now() + loginCodeLifetimeMs)
  const code = await directory.createLoginCode(userId, expireTime)
  const link = `${base}/console#code=${code}`
  return {
    json: { url: link, code, expireTime },
    text: `${link}\nThe link signs in as ${email}, once and until ${expireTime.toISOString()}.`,
  }
}
