import { describe, expect, it } from 'vitest'
import { json, reasonOf, startGateway } from '../testing.ts'

const withoutKey = { as: '' }

describe('GET /v2/docs', () => {
  it('answers a page without a key, which loads nothing from elsewhere', async () => {
    await using gateway = await startGateway()

    const answer = await gateway.send('GET', '/v2/docs', withoutKey)

    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.text).toContain('<script src="docs/scalar.js">')
    expect(answer.text).not.toMatch(/https?:/)
  })

  it('allows itself its own two scripts and requests to the gateway', async () => {
    await using gateway = await startGateway()

    const { headers } = await gateway.send('GET', '/v2/docs', withoutKey)

    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='/)
    expect(policy).toContain("connect-src 'self'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
  })
})

describe('GET /v2/docs/scalar.js', () => {
  it('answers the script of the page without a key', async () => {
    await using gateway = await startGateway()

    const answer = await fetch(`${gateway.origin}/v2/docs/scalar.js`)

    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await answer.text()).toContain('createApiReference')
  })
})

describe.each(['/v2/docs', '/v2/docs/scalar.js', '/v2/openapi.json'])('%s', (path) => {
  it('answers HEAD', async () => {
    await using gateway = await startGateway()

    const answer = await gateway.send('HEAD', path, withoutKey)

    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0)
  })

  it('takes no query', async () => {
    await using gateway = await startGateway()

    const answer = await gateway.send('GET', `${path}?theme=dark`, withoutKey)

    expect([answer.status, reasonOf(answer)]).toEqual([400, 'INVALID_REQUEST'])
  })

  it('answers no other method, to whoever has a key', async () => {
    await using gateway = await startGateway()

    const stranger = await gateway.send('POST', path, { as: '', headers: json, body: '{}' })
    const known = await gateway.send('POST', path, { headers: json, body: '{}' })

    expect([stranger.status, reasonOf(stranger)]).toEqual([401, 'API_KEY_INVALID'])
    expect([known.status, known.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('does not count against the rate limit of a key', async () => {
    await using gateway = await startGateway({ rateLimitPerMinute: 1 })

    for (const _ of [1, 2, 3]) expect((await gateway.send('GET', path)).status).toBe(200)
  })

  it.each(['//', '/x'])('has nothing below or behind it: %s', async (rest) => {
    await using gateway = await startGateway()

    expect((await gateway.send('GET', `${path}${rest}`, withoutKey)).status).toBe(401)
    expect((await gateway.send('GET', `${path}${rest}`)).status).toBe(404)
  })
})

describe.each(['/v2/docs', '/v2/docs/scalar.js', '/v2/openapi.json'])('the document %s', (path) => {
  it('is compressed for whoever accepts it, and has a tag for each coding', async () => {
    await using gateway = await startGateway()
    const get = (headers: Record<string, string>) => gateway.send('GET', path, { ...withoutKey, headers })

    const [plain, compressed, refused] = [
      await get({ 'accept-encoding': 'identity' }),
      await get({ 'accept-encoding': 'deflate, gzip;q=0.5' }),
      await get({ 'accept-encoding': 'gzip;q=0' }),
    ]

    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(refused.headers['content-encoding']).toBeUndefined()
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
  it('leads to the page', async () => {
    await using gateway = await startGateway()

    const { url, status } = await fetch(`${gateway.origin}/v2/docs/`)

    expect({ url, status }).toEqual({ url: `${gateway.origin}/v2/docs`, status: 200 })
  })
})
