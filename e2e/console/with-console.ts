import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { buildConsole } from '../../scripts/build-console.ts'
import { launchBrowser } from '../launch-browser.ts'
import { type Account, publishable, type System, startSystem } from '../system.ts'
import { openConsole, openPage, signIn } from './console-pages.ts'

/** The built console, a system and a browser for the tests of a file, and what these do most. */
export const withConsole = () => {
  let system: System
  let browser: Browser
  beforeAll(async () => {
    await buildConsole()
    system = await startSystem()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await system?.[Symbol.asyncDispose]()
  })
  const call = async (account: Account, method: string, path: string, body?: object) =>
    (await system.call(account, method, `${account.forms}${path}`, body)).body
  return {
    /** Only in hooks and tests. */
    system: () => system,
    open: (url: string, options?: BrowserOptions) => openPage(browser, url, options),
    openConsole: (options?: BrowserOptions) => openConsole(browser, system, options),
    signIn: (account: Account, options?: BrowserOptions) => signIn(browser, system, account, options),
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

type BrowserOptions = Parameters<Browser['newContext']>[0]
