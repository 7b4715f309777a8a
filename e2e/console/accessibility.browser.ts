import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../scripts/build-console.ts'
import { launchBrowser } from '../launch-browser.ts'
import { type Account, publishable, type System, startSystem } from '../system.ts'
import {
  accessibilityProblems,
  type ConsolePage,
  goToForm,
  isTooWide,
  openConsole,
  signIn,
} from './console-pages.ts'

/** The time in which a keystroke in a form of 700 KB shows, on a busy machine. Milliseconds. */
const keystrokeMs = 1_000

let system: System
let browser: Browser
let account: Account
/** A form with a live revision, an earlier one, a breaking change and a violation of the checks of a publish. */
let publicId: string

beforeAll(async () => {
  await buildConsole()
  system = await startSystem()
  browser = await launchBrowser()
  account = await system.account({ role: 'owner' })
  const { body } = await system.call(account, 'POST', account.forms, { form: publishable() })
  publicId = body.publicId
  const path = `${account.forms}/${publicId}`
  await system.call(account, 'POST', `${path}/publish`, { note: 'First' })
  const deleted = await system.call(account, 'POST', account.forms, { form: { name: 'Thrown away' } })
  await system.call(account, 'DELETE', `${account.forms}/${deleted.body.publicId}`)
  await system.call(account, 'PATCH', path, {
    form: { name: 'Second', steps: publishable().steps.slice(0, 1) },
  })
})
afterAll(async () => {
  await browser?.close()
  await system?.[Symbol.asyncDispose]()
})

/** Every page, in a state that shows all of its parts. */
const pages: [string, (opened: ConsolePage) => Promise<unknown>][] = [
  ['forms', ({ page }) => page.getByText('draft differs').waitFor()],
  [
    'a new form',
    async ({ page }) => {
      await page.getByRole('button', { name: 'New form' }).click()
      await page.getByRole('dialog').waitFor()
    },
  ],
  [
    'edit',
    async (opened) => {
      await goToForm(opened, account, publicId)
      await opened.page.locator('.cm-content').waitFor()
      await opened.page.getByText('Theme', { exact: true }).click()
      await opened.page
        .getByRole('button', { name: /How was it/ })
        .first()
        .click()
      await opened.page.getByLabel('Key').fill('not a key')
      await opened.page.locator('.form-fields .violation').first().waitFor()
    },
  ],
  ['preview', (opened) => goToForm(opened, account, publicId, 'preview')],
  [
    'publish',
    async (opened) => {
      await goToForm(opened, account, publicId, 'publish')
      await opened.page.getByText('Before it can be published').waitFor()
    },
  ],
  [
    'revisions',
    async (opened) => {
      await goToForm(opened, account, publicId, 'revisions')
      await opened.page.getByText('First').waitFor()
    },
  ],
  [
    'compare',
    async (opened) => {
      await goToForm(opened, account, publicId, 'compare/live/draft')
      await opened.page.getByText('Breaking').first().waitFor()
    },
  ],
  [
    'activity',
    async (opened) => {
      await goToForm(opened, account, publicId, 'form-activity')
      await opened.page.getByText('Published').waitFor()
    },
  ],
  [
    'deleted forms',
    async ({ page }) => {
      await page.getByRole('link', { name: 'Deleted forms' }).click()
      await page.getByText('Thrown away').waitFor()
    },
  ],
  ['use it', (opened) => goToForm(opened, account, publicId, 'use-it')],
  [
    'an error',
    async (opened) => {
      await goToForm(opened, account, 'nothing')
      await opened.page.getByText('FORM_NOT_FOUND').waitFor()
    },
  ],
]

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('in %s colours, %i pixels wide,', (colorScheme, width) => {
  const options = { colorScheme, viewport: { width, height: 844 } }

  const check = async (page: Page) => {
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
  }

  it('axe-core finds nothing on the sign-in page', async () => {
    const { page, context } = await openConsole(browser, system, options)
    await page.getByLabel('API key').waitFor()
    await check(page)
    await context.close()
  })

  it('axe-core finds nothing on any page', async () => {
    const opened = await signIn(browser, system, account, options)
    for (const [name, open] of pages) {
      await open(opened)
      expect(await accessibilityProblems(opened.page), name).toEqual([])
      expect(await isTooWide(opened.page), name).toBe(false)
      await opened.page.keyboard.press('Escape')
    }
    expect(opened.problems).toEqual([])
    await opened.context.close()
  })
})

describe('with the keyboard alone', () => {
  /** Presses Tab until the element with this name has the focus. */
  const tabTo = async (page: Page, name: RegExp) => {
    const seen: string[] = []
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate<string>(`(() => {
        const element = document.activeElement
        return element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? ''
      })()`)
      if (name.test(focused)) return
      seen.push(focused)
    }
    throw new Error(`Tab does not reach ${name}, only ${seen.join(', ')}`)
  }

  it('somebody signs in, creates a form, edits and publishes it', async () => {
    const own = await system.account()
    const { page, context } = await openConsole(browser, system)
    await page.getByLabel('API key').waitFor()
    await tabTo(page, /API key/)
    await page.keyboard.type(own.apiKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    await tabTo(page, /^New form$/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, /^Name/)
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
    await tabTo(page, /^Add step$/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Steps (1)' }).waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'By keyboard' }).focus()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    for (;;) {
      if ((await page.evaluate('document.activeElement.innerText')) === 'Publish') break
      await page.keyboard.press('Shift+Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Publish: By keyboard' }).waitFor()
    await tabTo(page, /^Note/)
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.getByText('Published. Respondents').waitFor()
    await context.close()
  })

  it('one leaves the JSON editor', async () => {
    const opened = await signIn(browser, system, account)
    await goToForm(opened, account, publicId)
    await opened.page.locator('.cm-content').click()
    await opened.page.keyboard.press('Shift+Tab')

    const isOutside = 'document.activeElement.shadowRoot === null && document.activeElement !== document.body'
    expect(await opened.page.evaluate(isOutside)).toBe(true)
    await opened.context.close()
  })
})

describe('a form with 1,000 steps and 700 KB', () => {
  it('stays usable', async () => {
    const own = await system.account()
    const steps = Array.from({ length: 1_000 }, (_, index) => ({
      type: 'long-text',
      key: `q${index}`,
      title: `Question ${index}`,
      description: 'x'.repeat(620),
    }))
    const { body } = await system.call(own, 'POST', own.forms, { form: { name: 'Large', steps } })
    const opened = await signIn(browser, system, own)
    const { page } = opened
    await goToForm(opened, own, body.publicId)
    await page.locator('.cm-content').waitFor()

    await page
      .getByRole('button', { name: /Question 999/ })
      .first()
      .click()
    const title = page.getByLabel('Title')
    await title.fill('Changed')
    const keystroke = await page.evaluate<number>(`new Promise((resolve) => {
      const input = [...document.querySelectorAll('.step-fields input')].find(({ value }) => value === 'Changed')
      input.value = 'Changed again'
      const startedAt = performance.now()
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)))
    })`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()

    expect(keystroke).toBeLessThan(keystrokeMs)
    const saved = (await system.call(own, 'GET', `${own.forms}/${body.publicId}`)).body
    expect(saved.steps[999].title).toBe('Changed again')
    await opened.context.close()
  })
})
