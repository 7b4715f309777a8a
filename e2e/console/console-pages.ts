import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { onTestFailed } from 'vitest'
import type { Account, RunningSystem } from '../system.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const images = join(import.meta.dirname, '../../docs/images/console')

/** A tab with a page of the gateway. Disposing it leaves it, as new, to the next test. */
export interface ConsolePage extends AsyncDisposable {
  page: Page
  context: BrowserContext
  /** That of the gateway. */
  origin: string
  /** Violations of the content security policy, foreign requests, uncaught errors. */
  problems: string[]
  /** Method and path of each request. */
  requests: string[]
}

export type PageOptions = Pick<BrowserContextOptions, 'colorScheme' | 'permissions' | 'viewport'>

/** Tabs that tests have left. A further window, process and compiled console would take longer than most tests. */
const left = new WeakMap<Browser, ConsolePage[]>()

/** Opens a page of the gateway in a browser context that no other open page has. */
export const openPage = async (
  browser: Browser,
  url: string,
  { colorScheme = 'light', permissions = [], viewport = { width: 1280, height: 800 } }: PageOptions = {},
): Promise<ConsolePage> => {
  const opened = left.get(browser)?.pop() ?? (await newTab(browser))
  const { page, context, problems, requests } = opened
  opened.origin = new URL(url).origin
  problems.length = 0
  requests.length = 0
  await page.setViewportSize(viewport!)
  await page.emulateMedia({ colorScheme })
  if (permissions.length > 0) await context.grantPermissions(permissions)
  await page.goto(url)
  return opened
}

const newTab = async (browser: Browser): Promise<ConsolePage> => {
  const context = await browser.newContext()
  // Playwright's 30 s do not suffice for a large form on a machine that runs other tests, too.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const problems: string[] = []
  const requests: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin === opened.origin) requests.push(`${request.method()} ${url.pathname}`)
    else problems.push(`request to ${url}`)
  })
  const opened: ConsolePage = {
    page,
    context,
    origin: '',
    problems,
    requests,
    [Symbol.asyncDispose]: async () => {
      if (page.isClosed()) return context.close()
      const shown = await page.locator('body').innerText()
      onTestFailed(() => console.error(`At the end of the test, the page shows:\n${shown}`))
      await emptied(opened)
      left.set(browser, [...(left.get(browser) ?? []), opened])
    },
  }
  return opened
}

/** Takes from a tab all that a test has set or that the console has stored. */
const emptied = async ({ page, context, origin }: ConsolePage): Promise<void> => {
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.setOffline(false)
  await context.clearPermissions()
  // An error of the same origin, since the console stores edits when it is left.
  await page.goto(`${origin}/v2/nothing`)
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
}

export const openConsole = (
  browser: Browser,
  { baseUrl }: RunningSystem,
  options?: PageOptions,
): Promise<ConsolePage> => openPage(browser, `${baseUrl}/console`, options)

/** Opens the console and signs in with a pasted key. */
export const signIn = async (
  browser: Browser,
  system: RunningSystem,
  { apiKey }: Account,
  options?: PageOptions,
): Promise<ConsolePage> => {
  const opened = await openConsole(browser, system, options)
  await opened.page.getByLabel('API key').fill(apiKey)
  await opened.page.getByRole('button', { name: 'Sign in' }).click()
  await opened.page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
  return opened
}

/** Opens a page of a form that is signed in already. */
export const goToForm = async ({ page }: ConsolePage, { slug }: Account, publicId: string, name = 'edit') => {
  const base = page.url().replace(/#.*$/, '')
  await page.goto(`${base}#/organizations/${slug}/forms/${publicId}/${name}`)
}

/** Opens the JSON editor beside the fields of a form. */
export const showJson = async ({ page }: ConsolePage): Promise<void> => {
  await page.getByLabel('Show JSON').check()
  await page.locator('.cm-content').waitFor()
}

interface AxeViolation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
  preload: false,
}

/** What axe-core finds on a page by WCAG 2.2 AA. @param within selectors of the parts to check; all by default. */
export const accessibilityProblems = async (page: Page, within = ['html']): Promise<string[]> => {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe)
  const run = `axe.run(${JSON.stringify(within)}, ${JSON.stringify(axeOptions)}).then(({ violations }) => violations)`
  const violations = await settled(() => page.evaluate<AxeViolation[]>(run))
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
  )
}

/** Repeats what fails because the page changes meanwhile, as axe-core does when an element disappears. */
const settled = async <T>(run: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

/** Whether the page is wider than the window. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

/** Saves an image for docs/console.md, if `SCREENSHOT` is set. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  if (!process.env.SCREENSHOT) return
  mkdirSync(images, { recursive: true })
  const cdp = await page.context().newCDPSession(page)
  // Playwright has no WebP, which takes a quarter of the bytes of a PNG.
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  writeFileSync(join(images, `${name}.webp`), data, 'base64')
  await cdp.detach()
}

interface Scrollable {
  scrollIntoView(options: { block: 'start' }): void
}

/** Like {@link screenshot}, in light and in dark colours. @param shown is scrolled to the top */
export const screenshots = async (page: Page, name: string, shown?: Locator): Promise<void> => {
  if (!process.env.SCREENSHOT) return
  await shown?.evaluate((element: Scrollable) => element.scrollIntoView({ block: 'start' }))
  await screenshot(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  await screenshot(page, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
}
