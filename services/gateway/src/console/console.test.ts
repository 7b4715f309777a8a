import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { json, reasonOf, startGateway } from '../testing.ts'

const withoutKey = { as: '' }
const page = '<!doctype html><script type="module" src="console/assets/index-B1fG.js"></script>'

const files = {
  'index.html': page,
  'assets/index-B1fG.js': `export const text = '${'x'.repeat(2_000)}'`,
  'assets/index-C9.css': 'body { margin: 0 }',
  'assets/icon-D2.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'licences.md': '# Licences',
}

const write = (folder: string) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

const givenConsole = () => {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'console-'))
  write(folder.path)
  return folder
}

describe('GET /v2/console', () => {
  it('returns the page without a key, to be revalidated, under a strict content security policy', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const response = await gateway.send('GET', '/v2/console', withoutKey)

    expect([response.status, response.text]).toEqual([200, page])
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    const policy = String(response.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe/)
    const headers = { 'if-none-match': String(response.headers.etag) }
    expect((await gateway.send('GET', '/v2/console', { as: '', headers })).status).toBe(304)
  })

  it('may load images from where the pages of forms may', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({
      consoleFolder: folder.path,
      publicFormImageOrigins: 'https://images.example.com',
    })

    const { headers } = await gateway.send('GET', '/v2/console', withoutKey)

    expect(headers['content-security-policy']).toContain("img-src 'self' data: https://images.example.com;")
  })

  it('supports HEAD, ignores a query, and is a 405 for other methods with a key', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const head = await gateway.send('HEAD', '/v2/console', withoutKey)
    const query = await gateway.send('GET', '/v2/console?utm_source=mail', withoutKey)
    const post = await gateway.send('POST', '/v2/console', { headers: json, body: '{}' })

    expect([head.status, head.text]).toEqual([200, ''])
    expect([query.status, query.text]).toEqual([200, page])
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('is where a trailing slash leads, with any query', async () => {
    await using gateway = await startGateway({})

    for (const path of ['/v2/console/', '/v2/console/?utm_source=mail']) {
      const response = await gateway.send('GET', path, withoutKey)
      expect([response.status, response.headers.location]).toEqual([308, '../console'])
    }
  })

  it('is a 404 that says how to build it, until it is built', async () => {
    using folder = givenConsole()
    rmSync(join(folder.path, 'index.html'))
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const missing = await gateway.send('GET', '/v2/console', withoutKey)
    write(folder.path)
    const built = await gateway.send('GET', '/v2/console', withoutKey)

    expect([missing.status, reasonOf(missing)]).toEqual([404, 'CONSOLE_NOT_BUILT'])
    expect(missing.json().error.message).toContain('npm run build -w console')
    expect(missing.headers['cache-control']).toBe('no-store')
    expect(built.status).toBe(200)
  })
})

describe('GET /v2/console/{file}', () => {
  it.each([
    ['assets/index-B1fG.js', 'text/javascript; charset=utf-8'],
    ['assets/index-C9.css', 'text/css; charset=utf-8'],
    ['assets/icon-D2.svg', 'image/svg+xml'],
  ] as const)('returns %s, which never changes', async (name, type) => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const response = await gateway.send('GET', `/v2/console/${name}`, withoutKey)

    expect([response.status, response.text]).toEqual([200, files[name]])
    expect(response.headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
  })

  it('revalidates a file without a hash in its name', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const { headers, text } = await gateway.send('GET', '/v2/console/licences.md', withoutKey)

    expect(text).toBe('# Licences')
    expect(headers).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'cache-control': 'no-cache',
    })
  })

  it('compresses for clients that accept gzip', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })
    const path = '/v2/console/assets/index-B1fG.js'

    const { headers } = await gateway.send('GET', path, { as: '', headers: { 'accept-encoding': 'gzip' } })
    const response = await fetch(`${gateway.origin}${path}`)

    expect(headers['content-encoding']).toBe('gzip')
    expect(Number(headers['content-length'])).toBeLessThan(200)
    expect(await response.text()).toBe(files['assets/index-B1fG.js'])
  })

  it.each([
    '/v2/console//',
    '/v2/console/index.html',
    '/v2/console/assets',
    '/v2/console/assets/',
    '/v2/console/assets/none.js',
    '/v2/console/../docs.html',
    '/v2/console/..%2f..%2fpackage.json',
    '/v2/console/%2e%2e/%2e%2e/package.json',
    '/v2/console/%zz',
    '/v2/console/constructor',
  ])('finds nothing at %s', async (path) => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const response = await gateway.send('GET', path)

    expect([response.status, reasonOf(response)]).toEqual([404, 'PATH_NOT_FOUND'])
  })
})

describe('GET /', () => {
  it('redirects to the console where that is built', async () => {
    using folder = givenConsole()
    await using gateway = await startGateway({ consoleFolder: folder.path })

    const { status, headers } = await gateway.send('GET', '/', withoutKey)

    expect([status, headers.location]).toEqual([302, 'v2/console'])
  })
})
