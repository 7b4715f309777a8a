import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityHeader } from '@fms/contracts'
import { createIdentityVerifier } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type Gateway, json, reasonOf, type SendOptions, secret, startGateway } from '../testing.ts'

const publicId = 'Ab3dE6gH9j'
const path = `/f/${publicId}.json`
const read = (gateway: Gateway, options: SendOptions = {}, of = path) =>
  gateway.send('GET', of, { as: '', ...options })

/** Starts a gateway whose forms service has one public form. */
const start = async (options: Parameters<typeof startGateway>[0] = {}) => {
  const gateway = await startGateway(options)
  gateway.forms.respond = ({ headers }, reply) =>
    headers['if-none-match'] === '"1"'
      ? reply.code(304).header('etag', '"1"').send()
      : reply.header('etag', '"1"').send({ name: 'Feedback' })
  return gateway
}

describe('GET /f/{publicId}.json', () => {
  it('reads the form without a key, under an identity that reads nothing else', async () => {
    await using gateway = await start()

    const response = await read(gateway, { headers: { 'x-request-id': 'mine', 'if-match': '"x"' } })

    expect([response.status, response.json()]).toEqual([200, { name: 'Feedback' }])
    expect(response.headers).toMatchObject({
      'cache-control': 'public, no-cache',
      'content-type': 'application/json; charset=utf-8',
      etag: '"1"',
      vary: 'accept',
      'x-request-id': 'mine',
    })
    const [request, ...more] = gateway.forms.received
    expect(more).toEqual([])
    expect(request).toMatchObject({ method: 'GET', url: `/internal/forms/${publicId}/public` })
    expect(request!.headers).not.toHaveProperty('if-match')
    const token = String(request!.headers[identityHeader])
    expect(createIdentityVerifier([secret])(token)).toMatchObject({ service: 'gateway' })
    expect(token).not.toContain('organizationId')
    expect(gateway.organizations.received).toEqual([])
  })

  it('is a 304 while the copy of the caller is current', async () => {
    await using gateway = await start()

    const response = await read(gateway, { headers: { 'if-none-match': '"1"' } })

    expect([response.status, response.text]).toEqual([304, ''])
    expect(response.headers).toMatchObject({ etag: '"1"', 'cache-control': 'public, no-cache' })
  })

  it('is the same without .json for a caller who accepts JSON and no pages', async () => {
    await using gateway = await start()

    for (const accept of ['application/json', 'text/html;q=0, application/json;q=0.1']) {
      const response = await read(gateway, { headers: { accept } }, `/f/${publicId}`)
      expect([response.status, response.json()]).toEqual([200, { name: 'Feedback' }])
      // A page needs no form.
      expect(gateway.forms.received.at(-1)!.headers).not.toHaveProperty('if-none-match')
    }
  })

  it('ignores the query and sends heads', async () => {
    await using gateway = await start()

    expect((await read(gateway, {}, `${path}?utm_source=x`)).status).toBe(200)
    const head = await gateway.send('HEAD', path, { as: '' })
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', '"1"'])
    const unchanged = await gateway.send('HEAD', path, { as: '', headers: { 'if-none-match': '"1"' } })
    expect([unchanged.status, unchanged.headers['content-length']]).toEqual([304, undefined])
  })

  it('returns the 404 of forms, which nobody may store', async () => {
    await using gateway = await start()
    const error = { error: { details: [{ reason: 'PUBLIC_FORM_NOT_FOUND' }] } }
    gateway.forms.respond = (_, reply) => reply.code(404).send(error)

    const response = await read(gateway)

    expect([response.status, response.json()]).toEqual([404, error])
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it.each(['Ab3dE6gH9', 'Ab3dE6gH9jk', 'Ab3dE6gH9_', '..%2Fx', '%zz', 'x'.repeat(20_000)])(
    'looks up nothing for %s',
    async (name) => {
      await using gateway = await start()

      const response = await read(gateway, {}, `/f/${name}.json`)

      expect([response.status, reasonOf(response)]).toEqual([404, 'PUBLIC_FORM_NOT_FOUND'])
      expect(response.text.length).toBeLessThan(1_000)
      expect(gateway.forms.received).toEqual([])
    },
  )

  it('has no other methods and no paths below', async () => {
    await using gateway = await start()

    const written = await gateway.send('POST', path, { as: '', headers: json, body: '{}' })
    expect([written.status, written.headers.allow]).toEqual([405, 'GET, HEAD'])
    for (const other of ['/f', '/f/', `${path}/`, `/f/${publicId}/revisions`])
      expect(reasonOf(await read(gateway, {}, other))).toBe('PATH_NOT_FOUND')
  })

  it('is a 503 while forms does not respond', async () => {
    await using gateway = await start()
    await gateway.forms.stop()

    expect(reasonOf(await read(gateway))).toBe('UPSTREAM_UNAVAILABLE')
  })

  it('is no failure when the caller disconnects', async () => {
    await using gateway = await start()
    const counted = async () =>
      /.*"UPSTREAM_UNAVAILABLE".*/.exec((await read(gateway, {}, '/metrics')).text)?.[0]
    const before = await counted()
    const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    gateway.forms.respond = async (_, { raw }) => {
      raw.once('close', ended.resolve)
      asked.resolve()
      await ended.promise
    }
    const caller = new AbortController()
    const response = fetch(gateway.origin + path, { signal: caller.signal })
    await asked.promise
    caller.abort()
    await expect(response).rejects.toThrow()
    await ended.promise

    expect(await counted()).toBe(before)
  })

  it.each([300_000, 800_000])('sends %i bytes unchanged', async (length) => {
    await using gateway = await start()
    const text = JSON.stringify('x'.repeat(length))
    gateway.forms.respond = (_, reply) => reply.header('content-type', 'application/json').send(text)

    for (let repeat = 0; repeat < 3; repeat++) expect((await read(gateway)).text).toBe(text)
    expect((await gateway.send('GET', '/metrics', { as: '' })).text).toContain(
      'gateway_bytes_reserved{of="public forms"} 0\n',
    )
  })
})

describe('pages of every origin', () => {
  const origin = 'https://any.example'

  it.each([undefined, 'https://app.example.com'])(
    'read a form where CORS_ORIGINS is %s',
    async (corsOrigins) => {
      await using gateway = await start({ ...(corsOrigins && { corsOrigins }) })
      const asks = {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'if-none-match',
      }

      const preflight = await gateway.send('OPTIONS', path, { as: '', headers: asks })
      const found = await read(gateway, { headers: { origin } })
      const missing = await read(gateway, { headers: { origin } }, '/f/x.json')

      expect([preflight.status, found.status, missing.status]).toEqual([204, 200, 404])
      for (const { headers } of [preflight, found, missing]) {
        expect(headers['access-control-allow-origin']).toBe('*')
        expect(headers).not.toHaveProperty('access-control-allow-credentials')
      }
      expect(preflight.headers['access-control-allow-headers']).toContain('if-none-match')
      expect(found.headers['access-control-expose-headers']).toContain('etag')
    },
  )

  it('read nothing else', async () => {
    await using gateway = await start()

    const { headers } = await gateway.send('GET', '/v2/organizations', { headers: { origin } })

    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('the bounds of an address', () => {
  it('are 1,200 requests a minute, by the proxies of TRUST_PROXY', async () => {
    await using gateway = await start({ trustProxy: '127.0.0.1', now: () => 1 })
    const from = (address: string, of = '/f/x.json') =>
      read(gateway, { headers: { 'x-forwarded-for': address } }, of)

    for (let sent = 0; sent < 1_200; sent += 100) {
      const responses = await Promise.all(Array.from({ length: 100 }, () => from('192.0.2.1')))
      expect(responses.filter(({ status }) => status !== 404)).toEqual([])
    }
    const last = await from('192.0.2.1')

    expect([reasonOf(last), last.headers['retry-after']]).toEqual(['RATE_LIMITED', '60'])
    expect((await from('192.0.2.2')).status).toBe(404)
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })

  it('are two seats of four, so that nobody with a key waits', async () => {
    await using gateway = await start({ trustProxy: '127.0.0.1', maxRequests: 1 })
    const released = Promise.withResolvers<void>()
    let inFlight = 0
    gateway.forms.respond = async ({ url }) => {
      if (!url.startsWith('/internal/')) return {}
      inFlight++
      await released.promise
      return {}
    }
    const waiting = async (count: number) =>
      (await gateway.send('GET', '/metrics', { as: '' })).text.includes(
        `admission_requests{service="public forms",cost="ordinary",state="waiting"} ${count}\n`,
      )
    const from = (address: string) => read(gateway, { headers: { 'x-forwarded-for': address } })

    const responses = Promise.all(
      ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.3'].map(from),
    )
    await expect.poll(() => waiting(2)).toBe(true)

    expect(inFlight).toBe(4)
    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)
    released.resolve()
    expect((await responses).map(({ status }) => status)).toEqual(Array(6).fill(200))
  })
})

describe('PUBLIC_FORMS', () => {
  it.each([
    [{}, 200],
    [{ publicFormBaseUrl: 'https://example.com/api/f/' }, 200],
    [{ publicFormBaseUrl: 'https://forms.example.com/fill' }, 404],
    [{ publicFormBaseUrl: 'https://forms.example.com/fill', publicForms: 'on' as const }, 200],
    [{ publicForms: 'off' as const }, 404],
  ])('with %j: %i', async (options, status) => {
    await using gateway = await start(options)

    const response = await read(gateway, { headers: { origin: 'https://any.example' } })

    expect(response.status).toBe(status)
    if (status === 404) {
      expect(reasonOf(response)).toBe('PATH_NOT_FOUND')
      expect(response.headers).not.toHaveProperty('access-control-allow-origin')
    }
  })
})

describe('GET /f/{publicId}', () => {
  const page = '<!doctype html><script type="module" src="assets/form-B1fG.js"></script>'
  const files = { 'index.html': 'console', 'form.html': page, 'assets/form-B1fG.js': 'export {}' }
  const startWithPage = async (publicFormImageOrigins?: string) => {
    const folder = mkdtempDisposableSync(join(tmpdir(), 'console-'))
    mkdirSync(join(folder.path, 'assets'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder.path, name), content)
    const options = { consoleFolder: folder.path, ...(publicFormImageOrigins && { publicFormImageOrigins }) }
    const gateway = await start(options)
    gateway.forms.respond = ({ headers, url }, reply) =>
      url.includes(publicId) && headers['if-none-match'] === '*'
        ? reply.code(304).send()
        : reply.code(404).send({})
    return {
      gateway,
      [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]().finally(() => folder.remove()),
    }
  }

  it('returns the page of a live form under a strict content security policy', async () => {
    await using started = await startWithPage('https://images.example.com')
    const { gateway } = started

    const response = await read(
      gateway,
      { headers: { accept: 'text/html,*/*' } },
      `/f/${publicId}?utm_source=x`,
    )

    expect([response.status, response.text]).toEqual([200, page])
    expect(response.headers).toMatchObject({
      'cache-control': 'public, no-cache',
      vary: 'accept, accept-encoding',
    })
    const policy = String(response.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
    expect(policy).toContain("img-src 'self' data: https://images.example.com;")
    expect(policy).toContain("font-src 'self' https://images.example.com;")
    expect(policy).not.toContain('unsafe')
    const headers = { 'if-none-match': String(response.headers.etag) }
    expect((await read(gateway, { headers }, `/f/${publicId}`)).status).toBe(304)
  })

  it.each(['Zz3dE6gH9j', 'x'])('is a 404 with a page that says why for %s', async (name) => {
    await using started = await startWithPage()
    const { gateway } = started
    const { headers } = await read(gateway, {}, `/f/${publicId}`)

    const response = await read(gateway, { headers: { 'if-none-match': String(headers.etag) } }, `/f/${name}`)

    expect([response.status, response.text]).toEqual([404, page])
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it('shows the page also where the service is unavailable or the address over its limit', async () => {
    await using started = await startWithPage()
    const { gateway } = started
    const readPage = () => read(gateway, { headers: { accept: 'text/html' } }, `/f/${publicId}`)
    await gateway.forms.stop()

    const unavailable = await readPage()
    for (let sent = 1; sent < 1_200; sent += 100)
      await Promise.all(Array.from({ length: 100 }, () => read(gateway, {}, '/f/x.json')))
    const limited = await readPage()

    for (const { text, headers } of [unavailable, limited]) {
      expect(text).toBe(page)
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-length': `${page.length}`,
        'content-security-policy': expect.stringMatching(/^default-src 'none';/),
        'content-type': 'text/html; charset=utf-8',
        'retry-after': expect.any(String),
      })
    }
    expect([unavailable.status, limited.status]).toEqual([503, 429])
    expect(reasonOf(await read(gateway))).toBe('RATE_LIMITED')
  })

  it('has the files of the page, and no others', async () => {
    await using started = await startWithPage()
    const { gateway } = started

    const asset = await read(gateway, {}, '/f/assets/form-B1fG.js')
    expect([asset.status, asset.headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ])
    for (const name of ['../index.html', '..%2Findex.html', 'nothing.js'])
      expect((await read(gateway, {}, `/f/assets/${name}`)).status).toBe(404)
  })

  it('is a 503 while forms does not respond, and a 404 while the page is not built', async () => {
    await using gateway = await start()
    gateway.forms.respond = (_, reply) => reply.code(304).send()
    expect(reasonOf(await read(gateway, {}, `/f/${publicId}`))).toBe('CONSOLE_NOT_BUILT')
    await gateway.forms.stop()

    expect(reasonOf(await read(gateway, {}, `/f/${publicId}`))).toBe('UPSTREAM_UNAVAILABLE')
  })
})
