import { loginCodeLifetimeMs } from '@fms/contracts'
import type { Command } from 'commander'
import { baseUrlOf } from '../api/api.ts'
import { addExamples } from '../cli/examples.ts'
import { parseBaseUrl } from '../cli/option-values.ts'
import { getUserByRef } from '../stores/get-by-ref.ts'
import { withDirectory } from '../stores/with-directory.ts'

/** That of the gateway under `npm start`. */
const defaultBaseUrl = 'http://127.0.0.1:8080/v2'

/** Adds `user login-link`. */
export const addLoginLinkCommand = (user: Command): void => {
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
