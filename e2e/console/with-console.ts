import type { Browser } from 'playwright-core'
import { beforeAll, test } from 'vitest'
import { buildConsole } from '../../scripts/build-console.ts'
import { launchBrowser } from '../launch-browser.ts'
import { sharedSystem } from '../shared-system.ts'
import { type Account, publishable } from '../system.ts'
import { openConsole, openPage, type PageOptions, signIn } from './console-pages.ts'

const system = await sharedSystem()

const shared = test.extend(
  'browser',
  { scope: 'worker' },
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the dependencies of a fixture from its pattern
  async ({}, { onCleanup }) => {
    const browser = await launchBrowser()
    onCleanup(() => browser.close())
    return browser
  },
)

/** The built console, the shared system, the browser of the worker, and what tests do most. */
export const withConsole = () => {
  let browser: Browser
  beforeAll(() => buildConsole())
  shared.beforeAll(({ browser: started }) => {
    browser = started
  })
  const call = async (account: Account, method: string, path: string, body?: object) =>
    (await system.call(account, method, `${account.forms}${path}`, body)).body
  return {
    system: () => system,
    browser: () => browser,
    open: (url: string, options?: PageOptions) => openPage(browser, url, options),
    openConsole: (options?: PageOptions) => openConsole(browser, system, options),
    signIn: (account: Account, options?: PageOptions) => signIn(browser, system, account, options),
    /** Creates a form that can be published. */
    given: (account: Account, fields: object = {}) =>
      call(account, 'POST', '', { form: publishable(fields) }),
    read: (account: Account, publicId: string) => call(account, 'GET', `/${publicId}`),
    edit: (account: Account, publicId: string, form: object) =>
      call(account, 'PATCH', `/${publicId}`, { form }),
    publish: (account: Account, publicId: string, note = '') =>
      call(account, 'POST', `/${publicId}/publish`, { note }),
    remove: (account: Account, publicId: string) => call(account, 'DELETE', `/${publicId}`),
  }
}
