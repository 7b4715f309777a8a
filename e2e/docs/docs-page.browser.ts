import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../launch-browser.ts'
import { publishable, type System, startSystem } from '../system.ts'

/** `SCREENSHOT=1` updates the screenshot in the documentation. */
const screenshot = process.env.SCREENSHOT && join(import.meta.dirname, '../../docs/images/docs-page.png')

let system: System
let browser: Browser

beforeAll(async () => {
  system = await startSystem()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await system?.[Symbol.asyncDispose]()
})

/** Opens the reference page. @returns it with its violations: console errors and requests to other origins. */
const openPage = async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const violations: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') violations.push(message.text())
  })
  page.on('pageerror', (error) => violations.push(String(error)))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(system.baseUrl).origin)
      violations.push(request.url())
  })
  await page.goto(`${system.baseUrl}/docs`)
  await page.getByRole('heading', { name: 'Form management', level: 1 }).waitFor()
  return { page, violations }
}

describe('the reference page', () => {
  it('shows an operation with its parameters, examples and errors', async () => {
    const { page, violations } = await openPage()

    await page.getByRole('button', { name: 'Forms' }).first().click()
    await page.getByRole('link', { name: 'Create a form' }).first().click()
    await page.getByRole('heading', { name: 'Create a form' }).waitFor()
    await page.getByRole('button', { name: /^413/ }).filter({ hasText: 'BODY_TOO_LARGE' }).first().waitFor()

    if (screenshot) {
      await page.getByText('"aiHandoff"').filter({ visible: true }).first().waitFor()
      await setTimeout(1_000) // The page scrolls to its place.
      await page.screenshot({ path: screenshot })
    }
    expect(violations).toEqual([])
  })

  it('sends a request with a pasted key and shows the response', async () => {
    const account = await system.account()
    const { page, violations } = await openPage()

    await page.getByRole('link', { name: 'List your organizations' }).first().click()
    await page.getByRole('button', { name: 'Test Request' }).first().click()
    const client = page.getByRole('dialog')
    await client.getByLabel('Value', { exact: true }).first().fill(account.apiKey)
    await client.getByRole('button', { name: /^Send/ }).first().click()
    await client.getByText('200 OK').waitFor()

    expect((await client.innerText()).replace(/\s/g, '')).toContain(`"slug":"${account.slug}"`)
    expect(violations).toEqual([])
  })

  it('can publish a form', async () => {
    const account = await system.account()
    const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
    const { page, violations } = await openPage()

    await page.getByRole('button', { name: 'Forms' }).first().click()
    await page.getByRole('link', { name: 'Publish a form' }).first().click()
    const operation = page
      .locator('section', { has: page.getByRole('heading', { name: 'Publish a form' }) })
      .last()
    await operation.getByRole('button', { name: 'Test Request' }).first().click()
    const client = page.getByRole('dialog')
    await client.getByLabel('Value', { exact: true }).first().fill(account.apiKey)
    const refs = client.locator('.code-input-lite__editor[aria-label$="Value"]')
    await refs.nth(0).fill(account.slug)
    await refs.nth(1).fill(form.publicId)
    await client.getByRole('button', { name: /^Send/ }).first().click()
    await client.getByText('200 OK').waitFor()

    expect((await system.call(account, 'GET', `${account.forms}/${form.publicId}`)).body.live).toBe(true)
    expect(violations).toEqual([])
  })
})
