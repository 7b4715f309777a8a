import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../launch-browser.ts'
import { type System, startSystem } from '../system.ts'
import {
  bundleForBrowser,
  type ClientInstallation,
  expectedLifecycle,
  installClient,
  lifecycleProgram,
} from './client-package.ts'

let system: System
let browser: Browser
let installation: ClientInstallation

beforeAll(async () => {
  system = await startSystem()
  installation = installClient()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  installation?.[Symbol.dispose]()
  await system?.[Symbol.asyncDispose]()
})

describe('a bundle of the packed client', () => {
  it('runs the lifecycle of a form in Chromium', async () => {
    const { apiKey, slug: organization } = await system.account()
    const importing = `import { createClient, isReason } from '@fms/client'`
    const show = 'globalThis.life = life'
    const script = await bundleForBrowser(installation.write('page.js', lifecycleProgram(importing, show)))
    const page = await browser.newPage()
    // The page has the origin of the gateway, so that the base URL can be relative.
    const address = new URL('/client-page', system.baseUrl).href
    await page.route(address, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<script type="module">${script}</script>` }),
    )
    await page.goto(address)

    const parameters = JSON.stringify({ baseUrl: '/v2', apiKey, organization })
    expect(await page.evaluate(`life(${parameters})`)).toEqual(expectedLifecycle)
  })
})
