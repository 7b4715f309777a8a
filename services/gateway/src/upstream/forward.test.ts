import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { json, reasonOf, startGateway } from '../testing.ts'

const publicId = 'Ab3dE6gH9j'

describe('the forwarded path', () => {
  it('has the canonical organization id, and the query unchanged', async () => {
    await using gateway = await startGateway()
    const { organizationId } = gateway.organization

    await gateway.send('GET', '/v2/organizations/acme/forms?filter=name:%22a%20b%22&skip=1&skip=2')
    await gateway.send('GET', `/v2/organizations/${organizationId}/forms/${publicId}/revisions/live`)
    await gateway.send('GET', '/v2/organizations?all=true')
    await gateway.send('GET', '/v2/organizations/acme')

    expect(gateway.forms.received.map(({ url }) => url)).toEqual([
      `/organizations/${organizationId}/forms?filter=name:%22a%20b%22&skip=1&skip=2`,
      `/organizations/${organizationId}/forms/${publicId}/revisions/live`,
    ])
    const reads = gateway.organizations.received.filter(({ method }) => method === 'GET')
    expect(reads.map(({ url }) => url)).toEqual([
      '/organizations?all=true',
      `/organizations/${organizationId}`,
    ])
  })

  it.each([
    ['..', '__'],
    ['.', '_'],
    ['%2e%2e', '__'],
    ['a%2Fb', 'a_b'],
    ['..%2f..%2fadmin', '______admin'],
    ['..\\x', '___x'],
    ['%zz', '_zz'],
    ['%00', '_'],
    ['a%3Fb%23c', 'a_b_c'],
    ['%E2%98%83', '_'],
    [`${randomUUID()}%0A`.replaceAll('-', '.'), expect.stringMatching(/_/)],
    ['x'.repeat(20_000), 'x'.repeat(100)],
  ])('is always that of the route: form %s', async (ref, seen) => {
    await using gateway = await startGateway()

    const response = await gateway.send('GET', `/v2/organizations/acme/forms/${ref}`)

    expect(response.status).toBe(200)
    expect(gateway.forms.received).toMatchObject([
      { url: expect.stringMatching(/^\/organizations\/[0-9a-f-]{36}\/forms\/\w+$/) },
    ])
    expect(gateway.forms.received[0]!.url.split('/').at(-1)).toEqual(seen)
  })

  it('is not sent for an organization reference that matches nothing', async () => {
    await using gateway = await startGateway()
    const malformed = ['..', '%2e%2e', 'a%2Fb', '%zz', 'x'.repeat(20_000)]

    const responses = await Promise.all(
      malformed.map((ref) => gateway.send('GET', `/v2/organizations/${ref}/forms`)),
    )

    expect(responses.map((response) => [response.status, reasonOf(response)])).toEqual(
      malformed.map(() => [404, 'ORGANIZATION_NOT_FOUND']),
    )
    expect(gateway.forms.received).toEqual([])
  })
})

describe('the headers', () => {
  it('of a request are forwarded only when they are on the list', async () => {
    await using gateway = await startGateway()
    const headers = {
      ...json,
      'if-match': '"1-a"',
      'if-none-match': '"2-b"',
      'x-request-id': 'r-1',
      cookie: 'a=b',
      authorization: 'Bearer x',
      'x-forwarded-for': '10.0.0.1',
      connection: 'if-match',
    }

    await gateway.send('PATCH', `/v2/organizations/acme/forms/${publicId}`, { headers, body: '{"form":{}}' })

    const [request] = gateway.forms.received
    expect(request!.headers).toEqual({
      host: new URL(gateway.forms.origin).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': '11',
      'if-match': '"1-a"',
      'if-none-match': '"2-b"',
      'x-request-id': 'r-1',
      'x-fms-identity': expect.stringMatching(/^eyJ/),
    })
  })

  it('of a 304 have no content-length', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = (_, reply) => reply.code(304).header('etag', '"1-a"').send()

    const response = await gateway.send('GET', `/v2/organizations/acme/forms/${publicId}`)

    expect([response.status, response.text, response.headers.etag]).toEqual([304, '', '"1-a"'])
    expect(response.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'x-api-key' })
    expect(response.headers).not.toHaveProperty('content-length')
  })

  it('of a response with a secret let no cache keep it', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = (_, reply) => reply.header('cache-control', 'no-store').send({})
    const url = `/v2/organizations/acme/forms/${publicId}/revisions/${randomUUID()}?readMask=form`

    const response = await gateway.send('GET', url)

    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', vary: 'x-api-key' })
  })

  it('of a response are forwarded only when they are on the list, with one request id', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = (_, reply) =>
      reply
        .code(503)
        .headers({
          'cache-control': 'private',
          etag: '"1-a"',
          'retry-after': '1',
          'x-powered-by': 'us',
          'x-request-replayed': 'true',
          'x-request-id': 'theirs',
        })
        .send({ error: {} })

    const response = await gateway.send('GET', '/v2/organizations/acme/forms', {
      headers: { 'x-request-id': 'r-1' },
    })

    expect([response.status, response.json()]).toEqual([503, { error: {} }])
    const { date: _, ...headers } = response.headers
    expect(headers).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '12',
      'cache-control': 'no-store',
      vary: 'x-api-key',
      etag: '"1-a"',
      'retry-after': '1',
      'x-request-replayed': 'true',
      'x-request-id': 'r-1',
      'x-content-type-options': 'nosniff',
      connection: 'keep-alive',
      'keep-alive': 'timeout=72',
    })
  })

  it('get a new request id when the client sends an invalid one', async () => {
    await using gateway = await startGateway()

    const response = await gateway.send('GET', '/v2/organizations/acme/forms', {
      headers: { 'x-request-id': ['one', 'two'] },
    })

    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(gateway.forms.received[0]!.headers['x-request-id']).toBe(response.headers['x-request-id'])
  })
})

it('counts a patch as expensive after forms has found its draft long, also in a refusal', async () => {
  await using gateway = await startGateway()
  const form = `/v2/organizations/acme/forms/${randomUUID()}`
  const patch = () => gateway.send('PATCH', form, { headers: json, body: '{"form":{}}' })
  gateway.forms.respond = (_, reply) => reply.code(400).header('x-fms-expensive', 'true').send({ error: {} })
  expect((await patch()).headers).not.toHaveProperty('x-fms-expensive')
  const released = Promise.withResolvers<void>()
  gateway.forms.respond = async () => {
    await released.promise
    return {}
  }

  const patched = patch()

  const admitted = 'admission_requests{service="forms",cost="expensive",state="admitted"} 1\n'
  await expect.poll(async () => (await gateway.send('GET', '/metrics', { as: '' })).text).toContain(admitted)
  released.resolve()
  expect((await patched).status).toBe(200)
})

describe('the request body', () => {
  const forms = '/v2/organizations/acme/forms'

  it('is forwarded byte for byte, also when it is not valid JSON', async () => {
    await using gateway = await startGateway()
    const form = `${forms}/${publicId}`
    const utf8 = { ...json, 'content-type': 'application/json; charset=utf-8' }

    await gateway.send('POST', forms, { headers: utf8, body: ' {"form": {"name":"é"}}\n' })
    await gateway.send('POST', forms, { headers: json, body: '{"form":' })
    await gateway.send('POST', forms)
    await gateway.send('DELETE', form, { headers: json, body: '' })
    await gateway.send('DELETE', form, { headers: json, body: '{"validateOnly":true}' })
    await gateway.send('GET', form, { headers: json })

    expect(gateway.forms.received.map(({ method, body }) => [method, body])).toEqual([
      ['POST', ' {"form": {"name":"é"}}\n'],
      ['POST', '{"form":'],
      ['POST', ''],
      ['DELETE', ''],
      ['DELETE', '{"validateOnly":true}'],
      ['GET', ''],
    ])
    const types = gateway.forms.received.map(({ headers }) => headers['content-type'])
    expect(types).toEqual([
      json['content-type'],
      json['content-type'],
      undefined,
      undefined,
      json['content-type'],
      undefined,
    ])
  })

  it('is a 415 without a content-type, and with another one than JSON', async () => {
    await using gateway = await startGateway()

    const responses = await Promise.all([
      gateway.send('POST', forms, { body: '{}' }),
      gateway.send('POST', forms, { body: '{}', headers: { 'content-type': 'text/plain' } }),
      gateway.send('PATCH', `${forms}/${publicId}`, {
        body: '{}',
        headers: { 'content-type': 'application/jsonp' },
      }),
      gateway.send('POST', `${forms}/${publicId}/publish`, {
        body: '{}',
        headers: { 'content-type': 'nonsense' },
      }),
    ])

    expect(responses.map((response) => [response.status, reasonOf(response)])).toEqual(
      responses.map(() => [415, 'UNSUPPORTED_MEDIA_TYPE']),
    )
    expect(gateway.forms.received).toEqual([])
  })

  it('is none if it is empty and sent in chunks without a content-type', async () => {
    await using gateway = await startGateway()
    const { address, port } = gateway.app.server.address() as AddressInfo
    const send = async (path: string, body: string, headers = {}) => {
      const key = { 'x-api-key': gateway.key, 'transfer-encoding': 'chunked' }
      const sent = request({ host: address, port, path, method: 'POST', headers: { ...key, ...headers } })
      sent.end(body)
      const [response] = await once(sent, 'response')
      response.resume()
      return response.statusCode
    }
    const unpublish = `${forms}/${publicId}/unpublish`

    expect(await send(unpublish, '')).toBe(200)
    expect(gateway.forms.received).toMatchObject([{ body: '' }])
    expect(await send(unpublish, '{}')).toBe(415)
    expect(await send(unpublish, '', { 'content-type': 'text/plain' })).toBe(415)
    expect(await send('/v2/nothing', '')).toBe(404)
    expect(await send('/v2/nothing', '{}')).toBe(404)
    expect(await send('/v2/nothing', '{}', { 'content-type': 'text/plain' })).toBe(404)
    expect(gateway.forms.received).toHaveLength(1)
  })

  it('is forwarded up to 1 MiB and a 413 beyond, with and without content-length', async () => {
    await using gateway = await startGateway()
    const bytes = Buffer.alloc(1024 * 1024 + 1, ' ')
    const inChunks = async function* (length: number) {
      for (let at = 0; at < length; at += 65_536) yield bytes.subarray(at, Math.min(length, at + 65_536))
    }
    const statusOf = async (body: Buffer | AsyncIterable<Buffer>) =>
      (await gateway.send('POST', forms, { headers: json, body: body as Buffer })).status

    expect(await statusOf(bytes.subarray(1))).toBe(200)
    expect(await statusOf(inChunks(bytes.length - 1))).toBe(200)
    expect(gateway.forms.received.map(({ body }) => body.length)).toEqual([1_048_576, 1_048_576])
    expect(await statusOf(bytes)).toBe(413)
    expect(await statusOf(inChunks(bytes.length))).toBe(413)
    expect(gateway.forms.received).toHaveLength(2)
  })
})

describe('the response body', () => {
  const form = `/v2/organizations/acme/forms/${publicId}`

  it.each([0, 1, 262_144, 262_145, 3_000_000])('is forwarded byte for byte: %i bytes', async (length) => {
    await using gateway = await startGateway()
    const body = '{"é"}'.repeat(length).slice(0, length)
    for (const headers of [{}, { 'content-length': String(Buffer.byteLength(body)) }]) {
      gateway.forms.respond = (_, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body)
      }
      // A short and a long request body.
      for (const sent of ['{}', JSON.stringify({ filler: ' '.repeat(65_536) })]) {
        const { status, text } = await gateway.send('PATCH', form, { headers: json, body: sent })
        expect(status).toBe(200)
        expect(text === body).toBe(true)
      }
      const { status, text } = await gateway.send('GET', form)
      expect([status, text === body]).toEqual([200, true])
    }
  })

  it.each([1_000, 1_000_000])(
    'of %i bytes is not forwarded as complete when it is truncated',
    async (length) => {
      await using gateway = await startGateway()
      gateway.forms.respond = (_, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
        reply.raw.write(' '.repeat(length - 1), () => reply.raw.destroy())
      }

      const response = await gateway.send('PATCH', form, { headers: json, body: '{}' }).catch(() => undefined)

      expect(response?.status ?? 503).toBe(503)
    },
  )
})

describe('HEAD', () => {
  it('gets the headers of GET without the body', async () => {
    await using gateway = await startGateway()
    const get = await gateway.send('GET', '/v2/organizations/acme/forms')

    const head = await gateway.send('HEAD', '/v2/organizations/acme/forms')

    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
    expect(gateway.forms.received.map(({ method }) => method)).toEqual(['GET', 'HEAD'])
  })
})

describe('a client that disconnects', () => {
  it.each([
    ['before the service responds', false],
    ['in the middle of the response', true],
  ])('%s does not affect the next request', async (_, hasBegun) => {
    await using gateway = await startGateway()
    const { hostname, port } = new URL(gateway.origin)
    const received = Promise.withResolvers<void>()
    const disconnected = Promise.withResolvers<void>()
    gateway.forms.respond = async (_request, reply) => {
      reply.hijack()
      if (hasBegun) reply.raw.write('{')
      received.resolve()
      await disconnected.promise
      reply.raw.end('}')
      gateway.forms.respond = () => ({})
    }
    const accepting = once(gateway.app.server, 'connection')
    const socket = connect(Number(port), hostname)
    const [accepted] = await accepting
    socket.write(`GET /v2/organizations/acme/forms HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n\r\n`)
    if (hasBegun) await once(socket, 'data')
    await received.promise

    const closed = once(accepted, 'close')
    socket.destroy()
    await closed
    disconnected.resolve()

    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)
  })
})
