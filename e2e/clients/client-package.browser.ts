import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../launch-browser.ts'
import { type System, startSystem } from '../system.ts'
import {
  bundleForBrowser,
  type ClientInstallation,
  installClient,
  lifeOfForm,
  lifeWellLived,
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
  it('takes a form through its life in Chromium', async () => {
    const { apiKey, slug: organization } = await system.account()
    const importing = `import { createClient, isReason } from '@fms/client'`
    const show = 'globalThis.life = life'
    const script = await bundleForBrowser(installation.write('page.js', lifeOfForm(importing, show)))
    const page = await browser.newPage()
    // A page of the gateway's own origin, so that the address of the API may be relative.
    const address = new URL('/client-page', system.baseUrl).href
    await page.route(address, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<script type="module">${script}</script>` }),
    )
    await page.goto(address)

    const parameters = JSON.stringify({ baseUrl: '/v2', apiKey, organization })
    expect(await page.evaluate(`life(${parameters})`)).toEqual(lifeWellLived)
  })
})
