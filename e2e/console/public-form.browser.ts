import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { imageOrigin } from '../shared-system.ts'
import type { Account } from '../system.ts'
import { accessibilityProblems, isTooWide } from './console-pages.ts'
import { withConsole } from './with-console.ts'

const { system, browser, given, read, publish, edit } = withConsole()
const image = (name: string, fields: object = {}) => ({
  type: 'image',
  url: `${imageOrigin}/${name}`,
  position: 'left-half',
  overlayOpacity: 0.5,
  ...fields,
})
/** A transparent pixel. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

const fields = {
  name: 'Course',
  description: 'Sign up here.',
  branding: { enabled: true, logoUrl: `${imageOrigin}/missing.gif` },
  theme: { primaryColor: '#0f766e', fontFamily: 'Georgia' },
  backgrounds: [image('hall.gif')],
  i18n: {
    supportedLocales: ['en', 'de'],
    translations: { de: { steps: { which: { title: { value: 'Welcher Kurs?' }, options: [] } } } },
  },
  steps: [
    {
      type: 'start',
      key: 'hello',
      title: 'Welcome',
      buttonText: 'Begin',
      logoUrl: `${imageOrigin}/badge.gif`,
    },
    {
      type: 'choice',
      key: 'which',
      title: 'Which course?',
      required: true,
      background: image('street.gif', { position: 'whole' }),
      options: ['Morning', 'Evening'],
      branches: [
        {
          groups: [[{ stepKey: 'which', operator: 'equals', value: 'Evening' }]],
          targetStepKey: 'thanks',
        },
      ],
    },
    { type: 'text', key: 'breakfast', title: 'Which breakfast?' },
    { type: 'end', key: 'thanks', title: 'Thank you' },
  ],
}

let account: Account
let publicUrl: string

beforeAll(async () => {
  account = await system().account({ role: 'owner' })
  const { publicId } = await given(account, fields)
  publicUrl = `${new URL(system().baseUrl).origin}/f/${publicId}`
  await publish(account, publicId)
  await edit(account, publicId, { name: 'Draft' })
})

/** Opens a page without a key. Collects violations of its policy, errors, and requests to other origins. */
const open = async (url: string, options: BrowserContextOptions = {}) => {
  const context = await browser().newContext(options)
  const page = await context.newPage()
  const problems: string[] = []
  const foreign: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text())
  })
  await context.route(
    (each) => each.origin !== new URL(url).origin,
    (route) => {
      foreign.push(route.request().url())
      if (route.request().url().includes('missing')) return route.fulfill({ status: 404 })
      return route.fulfill({ contentType: 'image/gif', body: pixel })
    },
  )
  const response = await page.goto(url)
  return { page, problems, foreign, response, [Symbol.asyncDispose]: () => context.close() }
}

describe.each([
  ['light', 1280],
  ['dark', 390],
] as const)('the page of a live form in %s colours, %i pixels wide', (colorScheme, width) => {
  const options = { colorScheme, viewport: { width, height: 844 } }

  it('shows the live revision step by step, with the keyboard alone', async () => {
    await using opened = await open(publicUrl, options)
    const { page } = opened
    const heading = (name: string) => page.getByRole('heading', { name, exact: true })
    const check = async () => {
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await isTooWide(page)).toBe(false)
    }
    await heading('Welcome').waitFor()
    expect([await page.title(), await page.locator('h1').innerText()]).toEqual(['Course', 'Course'])
    await page.getByText('they are not collected here').waitFor()
    const guide = page.getByRole('link', { name: 'For the makers of the form' })
    const href = new URL((await guide.getAttribute('href'))!, publicUrl)
    expect(await (await fetch(href)).text()).toContain('# Show a form to respondents')
    await page.locator('.stage.left-half .background img').waitFor()
    await page.locator('.stage .logo').waitFor()
    await check()

    await page.getByLabel('Language').selectOption('de')
    await page.getByRole('button', { name: 'Begin' }).focus()
    await page.keyboard.press('Enter')
    await heading('Welcher Kurs?').waitFor()
    await page.locator('.stage.behind .background img').waitFor()
    await page.getByRole('button', { name: 'Next' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('This question requires an answer.').waitFor()
    await check()
    await page.getByLabel('Evening').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await heading('Thank you').waitFor()
    await page.getByText('this page does not collect answers').waitFor()
    await check()

    expect(opened.problems).toEqual([])
    const images = ['badge', 'hall', 'missing', 'street'].map((name) => `${imageOrigin}/${name}.gif`)
    expect([...new Set(opened.foreign)].sort()).toEqual(images)
    expect(await page.locator('header .logo').isHidden()).toBe(true)
  })

  it('says why there is none, for a form that is not live', async () => {
    await using opened = await open(publicUrl.replace(/.{10}$/, 'Zz3dE6gH9j'), options)
    const { page } = opened

    await page.getByText('There is no public form Zz3dE6gH9j.').waitFor()

    expect(opened.response!.status()).toBe(404)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(opened.problems).toEqual([])
  })
})

describe('an image of an origin that the operator does not allow', () => {
  it('is not requested, and leaves no gap', async () => {
    const background = image('x.gif', { url: 'https://elsewhere.example/x.gif' })
    const { publicId } = await given(account, { ...fields, branding: {}, backgrounds: [background] })
    await publish(account, publicId)
    await using opened = await open(publicUrl.replace(/\w+$/, publicId))
    const { page } = opened

    await page.getByRole('heading', { name: 'Welcome' }).waitFor()
    await page.locator('.background').waitFor({ state: 'detached' })

    expect(await page.locator('.stage').getAttribute('class')).not.toContain('half')
    expect(opened.foreign).toEqual([`${imageOrigin}/badge.gif`])
    expect(opened.problems).toEqual([expect.stringContaining('elsewhere.example')])
  })
})

describe('the preview in the console', () => {
  /** Goes to the end of the form. */
  const walk = async (page: Page) => {
    const stage = page.locator('.stage')
    await stage.locator('.logo').waitFor()
    await stage.getByRole('button', { name: 'Begin' }).click()
    await stage.getByLabel('Evening').check()
    await stage.getByRole('button', { name: 'Next' }).click()
    await stage.getByRole('heading', { name: 'Thank you' }).waitFor()
  }

  it('shows the images that the page of the form shows, and requests no others', async () => {
    const elsewhere = image('x.gif', { url: 'https://elsewhere.example/x.gif' })
    const [start, ...others] = fields.steps
    const steps = [{ ...start, background: elsewhere }, ...others]
    const { publicId } = await given(account, { ...fields, steps })
    await publish(account, publicId)
    await using shown = await open(publicUrl.replace(/\w+$/, publicId))
    await walk(shown.page)

    await using console = await open(`${system().baseUrl}/console`)
    const { page } = console
    await page.getByLabel('API key').fill(account.apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Forms', exact: true }).waitFor()
    const base = `${system().baseUrl}/console#/organizations/${account.slug}/forms/${publicId}`
    await page.goto(`${base}/preview`)
    await walk(page)
    expect(new Set(console.foreign)).toEqual(new Set(shown.foreign))
    expect(shown.foreign).toContain(`${imageOrigin}/street.gif`)
    await page.getByText('Sign up here.').waitFor()

    await page.goto(`${base}/edit`)
    await page.locator('.step-name', { hasText: 'Welcome' }).click()
    const logo = page.locator('.step-fields').getByLabel('Logo URL')
    await logo.fill(`${imageOrigin}/missing.gif`)
    await page.locator('.stage .logo').waitFor({ state: 'hidden' })
    await logo.fill(`${imageOrigin}/badge.gif`)
    await page.locator('.stage .logo').waitFor()
    await page.locator('.step-name', { hasText: 'Which breakfast?' }).click()
    await page.getByText('Logo, background and redirect').click()
    await page.getByLabel('Background image URL').fill(`${imageOrigin}/street.gif`)
    await page.locator('.stage.behind .background img').waitFor()
    await page.getByLabel('Place of the image').selectOption('Right half')
    await page.locator('.stage.right-half .background img').waitFor()
    await page.getByLabel('Overlay').fill('0.5')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).waitFor()
    const { steps: saved } = await read(account, publicId)
    expect(saved[2].background).toEqual(image('street.gif', { position: 'right-half' }))
    expect(console.foreign.filter((url) => !url.startsWith(imageOrigin))).toEqual([])
    expect(console.problems.filter((problem) => !problem.includes('elsewhere.example'))).toEqual([])
  })
})

describe('the browser code of docs/guides/show-a-form.md', () => {
  it('shows a live form on another origin, without a key, in at most twelve lines', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/show-a-form.md'), 'utf8')
    const [, code] = /^```html\n(.*?)^```$/ms.exec(guide)!
    expect(code!.trim().split('\n').length).toBeLessThanOrEqual(12)
    const page = code!.replaceAll(/http:\/\/127\.0\.0\.1:8080\/f\/\w+/g, publicUrl)
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end(page)
    }).listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const context = await browser().newContext()
      const shown = await context.newPage()
      await shown.goto(`http://127.0.0.1:${port}/`)

      await shown.getByRole('heading', { name: 'Course' }).waitFor()
      expect(await shown.locator('li').allInnerTexts()).toEqual([
        'Welcome',
        'Which course?',
        'Which breakfast?',
        'Thank you',
      ])
      await context.close()
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
