import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../launch-browser.ts'
import { publishable, type System, startSystem } from '../system.ts'
import { bundleForBrowser, type ClientInstallation, installClient } from './client-package.ts'

/** Functions of a page that uses the packed client. */
const program = `
import { createClient } from '@fms/client'

const reasonOf = (error) => error.reason ?? error.name

globalThis.life = async ({ baseUrl, apiKey, organization, fields }) => {
  const { forms } = createClient({ baseUrl, apiKey })
  const created = await forms.create(organization, fields)
  const ref = created.form.publicId
  const edited = await forms.update(organization, ref, { name: 'Edited' }, { ifMatch: created.etag })
  const late = await forms.update(organization, ref, {}, { ifMatch: created.etag }).catch((error) => error)
  const published = await forms.publish(organization, ref, { ifMatch: edited.etag })
  await forms.delete(organization, ref, { ifMatch: published.etag })
  const deleted = await forms.get(organization, ref).catch((error) => error)
  const invalidKeyClient = createClient({ baseUrl, apiKey: apiKey.slice(0, -1) })
  const unauthenticated = await invalidKeyClient.forms.get(organization, ref).catch((error) => error)
  return {
    etags: [created.etag, edited.etag, published.etag],
    live: published.form.live,
    errors: [late, deleted, unauthenticated].map((error) => [error.code, reasonOf(error)]),
  }
}

globalThis.first = ({ baseUrl, apiKey, organization }) =>
  createClient({ baseUrl, apiKey }).forms.create(organization, {}).then(() => 'created', reasonOf)

globalThis.headersOf = async (url, apiKey) =>
  [...(await fetch(url, { headers: { 'x-api-key': apiKey } })).headers.keys()]
`

/** Serves a page with the script at a new origin. */
const startPage = async (readScript: () => string) => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(`<script type="module">${readScript()}</script>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { origin, stop }
}

let script = ''
let known: Awaited<ReturnType<typeof startPage>>
let unknown: Awaited<ReturnType<typeof startPage>>
let system: System
let browser: Browser
let installation: ClientInstallation

beforeAll(async () => {
  known = await startPage(() => script)
  unknown = await startPage(() => script)
  system = await startSystem({ env: { CORS_ORIGINS: `https://app.example.com, ${known.origin}` } })
  installation = installClient()
  script = await bundleForBrowser(installation.write('page.js', program))
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  installation?.[Symbol.dispose]()
  await system?.[Symbol.asyncDispose]()
  known?.stop()
  unknown?.stop()
})

const open = async (origin: string) => {
  const page = await browser.newPage()
  await page.goto(origin)
  await page.waitForFunction('globalThis.life')
  return page
}

/** Parameters of the page's functions, for a new account. */
const givenParameters = async () => {
  const { apiKey, slug: organization } = await system.account()
  return { baseUrl: system.baseUrl, apiKey, organization, fields: publishable() }
}

describe('the packed client in Chromium, on a page of another origin', () => {
  it('runs the lifecycle of a form, and reads ETags and errors', async () => {
    const page = await open(known.origin)

    const life = await page.evaluate(`life(${JSON.stringify(await givenParameters())})`)

    expect(life).toEqual({
      etags: Array(3).fill(expect.stringMatching(/^".+"$/)),
      live: true,
      errors: [
        [412, 'FORM_MOVED'],
        [404, 'FORM_NOT_FOUND'],
        [401, 'API_KEY_INVALID'],
      ],
    })
  })

  it('can read the documented headers', async () => {
    const page = await open(known.origin)
    const { apiKey } = await givenParameters()

    const url = JSON.stringify(`${system.baseUrl}/organizations`)
    const names = await page.evaluate(`headersOf(${url}, ${JSON.stringify(apiKey)})`)

    expect(names).toEqual(expect.arrayContaining(['x-request-id', 'ratelimit-remaining']))
  })

  it('is blocked on an origin that is not in CORS_ORIGINS', async () => {
    const page = await open(unknown.origin)
    const parameters = await givenParameters()

    const outcome = await page.evaluate(`first(${JSON.stringify(parameters)})`)

    expect(outcome).toBe('FormsConnectionError')
    const { body } = await system.call(parameters, 'GET', `/organizations/${parameters.organization}/forms`)
    expect(body.totalSize).toBe(0)
  })
})
