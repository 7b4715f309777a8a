import { describe, expect, it } from 'vitest'
import { json, type SendOptions, startGateway } from '../testing.ts'

const origin = 'https://app.example.com'
const corsOrigins = `https://other.example.com, ${origin}`
const forms = '/v2/organizations/acme/forms'
const form = `${forms}/Ab3dE6gH9j`

const preflight = {
  as: '',
  headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'if-match' },
}

describe('a preflight', () => {
  it.each([form, '/v2/organizations', '/v2/nothing', '/v2/docs', '/nothing', '/healthz'])(
    'to %s gets its response before authentication',
    async (path) => {
      await using gateway = await startGateway({ corsOrigins, rateLimitPerMinute: 1 })

      const { status, text, headers } = await gateway.send('OPTIONS', path, preflight)

      expect([status, text]).toEqual([204, ''])
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
        'access-control-allow-headers':
          'content-type, x-api-key, if-match, if-none-match, last-event-id, x-request-id, traceparent, tracestate',
        'access-control-max-age': '7200',
        'x-request-id': expect.any(String),
        vary: 'Origin',
      })
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      expect(gateway.directory.authorizeRequests).toEqual([])
    },
  )

  it.each(['https://app.example.com:8443', 'http://app.example.com', 'https://sub.app.example.com', 'null'])(
    'from another origin gets no CORS headers: %s',
    async (other) => {
      await using gateway = await startGateway({ corsOrigins })

      const { status, headers } = await gateway.send('OPTIONS', form, {
        ...preflight,
        headers: { ...preflight.headers, origin: other },
      })

      expect(status).toBe(204)
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers.vary).toBe('Origin')
    },
  )

  it('gets no CORS headers when no origin is configured', async () => {
    await using gateway = await startGateway()

    const { status, headers } = await gateway.send('OPTIONS', form, preflight)

    expect(status).toBe(204)
    expect(Object.keys(headers).filter((name) => /^(access-control|vary)/.test(name))).toEqual([])
  })

  it.each([
    ['without an origin', {}],
    ['without a requested method', { origin }],
    ['with a requested method but no origin', { 'access-control-request-method': 'GET' }],
  ])('is not an OPTIONS request %s', async (_, headers) => {
    await using gateway = await startGateway({ corsOrigins })

    const known = await gateway.send('OPTIONS', form, { headers })
    const unknown = await gateway.send('OPTIONS', '/v2/nothing', { headers })
    const stranger = await gateway.send('OPTIONS', form, { as: '', headers })

    expect([known.status, unknown.status, stranger.status]).toEqual([405, 404, 401])
    expect(String(known.headers.allow).split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH'])
  })
})

describe('a response to a configured origin', () => {
  const allowed = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'etag, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, x-request-replayed',
    vary: expect.stringMatching(/^Origin\b/),
  }
  const sendFrom =
    (gateway: Awaited<ReturnType<typeof startGateway>>) =>
    (method: string, path: string, options: SendOptions = {}) =>
      gateway.send(method, path, { ...options, headers: { ...options.headers, origin } })

  it.each([
    [200, 'GET', forms, {}],
    [200, 'HEAD', form, {}],
    [200, 'PATCH', form, { headers: json, body: '{"form":{}}' }],
    [200, 'GET', '/v2/openapi.json', {}],
    [200, 'GET', '/healthz', {}],
    [400, 'GET', '/v2/docs?x=1', {}],
    [401, 'GET', forms, { as: '' }],
    [404, 'GET', '/v2/nothing', {}],
    [404, 'GET', '/nothing', { as: '' }],
    [404, 'GET', '/v2/organizations/nobodys', {}],
    [405, 'PUT', form, {}],
    [413, 'POST', forms, { headers: json, body: 'x'.repeat(2_000_000) }],
    [415, 'POST', forms, { headers: { 'content-type': 'text/plain' }, body: '{}' }],
    [503, 'POST', `${form}/publish`, { headers: json, body: '{}' }],
  ])('with %i to %s %s has the CORS headers', async (status, method, path, options) => {
    await using gateway = await startGateway({ corsOrigins })

    const response = await sendFrom(gateway)(method, path, options)

    expect(response.status).toBe(status)
    expect(response.headers).toMatchObject(allowed)
  })

  it('has them when a service rejects the request, beside Vary and ETag', async () => {
    await using gateway = await startGateway({ corsOrigins })
    gateway.forms.respond = (_, reply) => reply.code(412).header('etag', '"2-a"').send({ error: {} })

    const { status, headers } = await sendFrom(gateway)('PATCH', form, { headers: json, body: '{"form":{}}' })

    expect(status).toBe(412)
    expect(headers).toMatchObject({ ...allowed, etag: '"2-a"', vary: 'Origin, x-api-key' })
  })

  it('has them on a 429', async () => {
    await using gateway = await startGateway({ corsOrigins, rateLimitPerMinute: 1 })
    const send = sendFrom(gateway)
    await send('GET', forms)

    const { status, headers } = await send('GET', forms)

    expect(status).toBe(429)
    expect(headers).toMatchObject({ ...allowed, 'ratelimit-remaining': '0' })
  })

  it('has them on a 503 for too many requests in flight', async () => {
    await using gateway = await startGateway({ corsOrigins, maxRequests: 1 })
    const blocked = Promise.withResolvers<void>()
    gateway.forms.respond = () => blocked.promise.then(() => ({}))
    const waiting = gateway.send('GET', forms)
    await expect.poll(() => gateway.forms.received.length).toBe(1)

    const { status, headers } = await sendFrom(gateway)('GET', forms)
    blocked.resolve()

    expect(status).toBe(503)
    expect(headers).toMatchObject({ ...allowed, 'retry-after': '1', 'cache-control': 'no-store' })
    expect((await waiting).status).toBe(200)
  })

  it('varies by the coding of a document', async () => {
    await using gateway = await startGateway({ corsOrigins })

    const { headers } = await sendFrom(gateway)('GET', '/v2/openapi.json')

    expect(headers.vary).toBe('Origin, accept-encoding')
  })

  it('has the same Vary as one to another origin or to none, which has no other CORS header', async () => {
    await using gateway = await startGateway({ corsOrigins })

    const other = await gateway.send('GET', forms, { headers: { origin: 'https://evil.example' } })
    const none = await gateway.send('GET', forms)

    for (const { status, headers } of [other, none]) {
      expect([status, headers.vary]).toEqual([200, 'Origin, x-api-key'])
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })
})

describe('CORS_ORIGINS=*', () => {
  it('allows every origin, without credentials', async () => {
    await using gateway = await startGateway({ corsOrigins: '*' })

    const allowed = await gateway.send('OPTIONS', form, preflight)
    const response = await gateway.send('GET', form, { headers: { origin: 'https://any.example' } })
    const rejected = await gateway.send('GET', form, { as: '', headers: { origin } })

    expect([allowed.status, response.status, rejected.status]).toEqual([204, 200, 401])
    for (const { headers } of [allowed, response, rejected]) {
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
    expect(response.headers.vary).toBe('x-api-key')
  })
})
