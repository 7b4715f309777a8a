import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../launch-browser.ts'
import { publishable, type System, startSystem } from '../system.ts'

/** `SCREENSHOT=1` takes the picture of the page that the documentation shows. */
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

/** A page, and all that it should not do: errors in the console, requests to other hosts. */
const openPage = async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(system.baseUrl).origin) faults.push(request.url())
  })
  await page.goto(`${system.baseUrl}/docs`)
  await page.getByRole('heading', { name: 'Form management', level: 1 }).waitFor()
  return { page, faults }
}

describe('the reference page', () => {
  it('shows an operation with its parameters, examples and errors', async () => {
    const { page, faults } = await openPage()

    await page.getByRole('button', { name: 'Forms' }).first().click()
    await page.getByRole('link', { name: 'Create a form' }).first().click()
    await page.getByRole('heading', { name: 'Create a form' }).waitFor()
    await page.getByRole('button', { name: /^413/ }).filter({ hasText: 'BODY_TOO_LARGE' }).first().waitFor()

    if (screenshot) {
      await page.getByText('"aiHandoff"').filter({ visible: true }).first().waitFor()
      await setTimeout(1_000) // The page scrolls to its place.
      await page.screenshot({ path: screenshot })
    }
    expect(faults).toEqual([])
  })

  it('tries an operation with a pasted key and shows the answer', async () => {
    const account = await system.account()
    const { page, faults } = await openPage()

    await page.getByRole('button', { name: 'Test Request' }).first().click()
    const client = page.getByRole('dialog')
    await client.getByLabel('Value', { exact: true }).first().fill(account.apiKey)
    await client.getByRole('button', { name: /^Send/ }).first().click()
    await client.getByText('200 OK').waitFor()

    expect((await client.innerText()).replace(/\s/g, '')).toContain(`"slug":"${account.slug}"`)
    expect(faults).toEqual([])
  })

  it('makes a form live when its publish is tried', async () => {
    const account = await system.account()
    const { body: form } = await system.call(account, 'POST', account.forms, { form: publishable() })
    const { page, faults } = await openPage()

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
    expect(faults).toEqual([])
  })
})
