import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, json, reasonOf, startGateway } from '../testing.ts'

const withoutKey = { as: '' }

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

describe('GET /v2/docs', () => {
  it('returns a page without a key, which loads nothing from other origins', async () => {
    const response = await gateway.send('GET', '/v2/docs', withoutKey)

    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.text).toContain('<script src="docs/scalar.js">')
    expect(response.text).not.toMatch(/https?:/)
  })

  it('has a content security policy for its two scripts and requests to the gateway', async () => {
    const { headers } = await gateway.send('GET', '/v2/docs', withoutKey)

    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='/)
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
  })
})

describe('GET /v2/docs/scalar.js', () => {
  it('returns the script of the page without a key', async () => {
    const response = await fetch(`${gateway.origin}/v2/docs/scalar.js`)

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await response.text()).toContain('createApiReference')
  })
})

const paths = ['/v2/docs', '/v2/docs/scalar.js', '/v2/openapi.json', '/v2/docs/guides/safe-edits.md']

describe.each(paths)('%s', (path) => {
  it('supports HEAD', async () => {
    const response = await gateway.send('HEAD', path, withoutKey)

    expect([response.status, response.text]).toEqual([200, ''])
    expect(Number(response.headers['content-length'])).toBeGreaterThan(0)
  })

  it('rejects a query', async () => {
    const response = await gateway.send('GET', `${path}?theme=dark`, withoutKey)

    expect([response.status, reasonOf(response)]).toEqual([400, 'INVALID_REQUEST'])
  })

  it('is a 405 for other methods, with a key', async () => {
    const stranger = await gateway.send('POST', path, { as: '', headers: json, body: '{}' })
    const known = await gateway.send('POST', path, { headers: json, body: '{}' })

    expect([stranger.status, reasonOf(stranger)]).toEqual([401, 'API_KEY_INVALID'])
    expect([known.status, known.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('does not count against the rate limit of a key', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 1 })

    for (const _ of [1, 2, 3]) expect((await gateway.send('GET', path)).status).toBe(200)
  })

  it.each(['//', '/x'])('has no further paths below it: %s', async (rest) => {
    expect((await gateway.send('GET', `${path}${rest}`, withoutKey)).status).toBe(401)
    expect((await gateway.send('GET', `${path}${rest}`)).status).toBe(404)
  })
})

describe.each([...paths, '/llms.txt', '/v2/openapi.json?view=essential'])('the document %s', (path) => {
  it('is compressed for clients that accept gzip, and has an ETag for each coding', async () => {
    const get = (headers: Record<string, string>) => gateway.send('GET', path, { ...withoutKey, headers })

    const [plain, compressed, rejected] = [
      await get({ 'accept-encoding': 'identity' }),
      await get({ 'accept-encoding': 'deflate, gzip;q=0.5' }),
      await get({ 'accept-encoding': 'gzip;q=0, *' }),
    ]

    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(rejected.headers['content-encoding']).toBeUndefined()
    expect(compressed.headers['content-encoding']).toBe('gzip')
    expect(Number(compressed.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']))
    expect(compressed.headers.etag).not.toBe(plain.headers.etag)
    for (const { headers } of [plain, compressed]) {
      expect(headers).toMatchObject({ vary: 'accept-encoding', 'x-content-type-options': 'nosniff' })
      expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/)
      const again = await get({
        'accept-encoding': String(headers['content-encoding'] ?? 'identity'),
        'if-none-match': String(headers.etag),
      })
      expect([again.status, again.text]).toEqual([304, ''])
    }
  })
})

describe('GET /v2/docs/', () => {
  it('redirects to the page', async () => {
    const { url, status } = await fetch(`${gateway.origin}/v2/docs/`)

    expect({ url, status }).toEqual({ url: `${gateway.origin}/v2/docs`, status: 200 })
  })
})
