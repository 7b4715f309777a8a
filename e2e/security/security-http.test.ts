import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startGateway } from '../../services/gateway/src/testing.ts'
import { sendRaw } from './raw-http.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let ports: Record<'the gateway' | 'a service', number>

beforeAll(async () => {
  gateway = await startGateway()
  ports = { 'the gateway': Number(new URL(gateway.origin).port), 'a service': gateway.forms.port }
})
afterAll(() => gateway[Symbol.asyncDispose]())
beforeEach(() => {
  gateway.forms.received.length = 0
  gateway.forms.respond = () => ({ from: 'forms' })
})

const forms = '/v2/organizations/acme/forms'
const head = (requestLine: string, headers = '') =>
  `${requestLine} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n${headers}\r\n`
const post = (headers: string, body: string) =>
  head(`POST ${forms}`, `content-type: application/json\r\n${headers}`) + body
/** The request that must never be processed. */
const smuggled = () => head(`GET ${forms}/smuggled`)
const inChunks = '2\r\n{}\r\n0\r\n\r\n'

const ambiguous: [string, () => string][] = [
  [
    'Content-Length and chunks',
    () => post('content-length: 4\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${smuggled()}`),
  ],
  [
    'chunks and Content-Length',
    () => post('transfer-encoding: chunked\r\ncontent-length: 4\r\n', `5c\r\n${smuggled()}\r\n0\r\n\r\n`),
  ],
  [
    'two different Content-Lengths',
    () => post(`content-length: 2\r\ncontent-length: ${smuggled().length + 2}\r\n`, `{}${smuggled()}`),
  ],
  ['the same Content-Length twice', () => post('content-length: 2\r\ncontent-length: 2\r\n', '{}')],
  ['a list of Content-Lengths', () => post('content-length: 2, 2\r\n', '{}')],
  ['a Content-Length with a sign', () => post('content-length: +2\r\n', '{}')],
  ['a negative Content-Length', () => post('content-length: -1\r\n', '{}')],
  ['a hexadecimal Content-Length', () => post('content-length: 0x2\r\n', '{}')],
  ['a Content-Length above the maximum', () => post('content-length: 99999999999999999999\r\n', '{}')],
  ['the coding identity after chunked', () => post('transfer-encoding: chunked, identity\r\n', inChunks)],
  [
    'two headers with chunked',
    () => post('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', inChunks),
  ],
  ['a vertical tab before chunked', () => post('transfer-encoding: \x0bchunked\r\n', inChunks)],
  ['a folded header', () => post('transfer-encoding:\r\n chunked\r\n', inChunks)],
  ['a space before the colon', () => post('transfer-encoding : chunked\r\n', inChunks)],
  ['a bare LF in the head', () => post('x-a: b\ncontent-length: 2\r\n', '{}')],
  ['a bare CR in the head', () => post('x-a: b\rcontent-length: 2\r\n', '{}')],
  ['bare LFs throughout', () => post('content-length: 2\r\n', '{}').replaceAll('\r\n', '\n')],
  ['a bare LF after a chunk extension', () => post('transfer-encoding: chunked\r\n', `2;a\n{}\r\n0\r\n\r\n`)],
  ['bare LFs in the chunks', () => post('transfer-encoding: chunked\r\n', inChunks.replaceAll('\r\n', '\n'))],
  ['a chunk without CRLF at its end', () => post('transfer-encoding: chunked\r\n', '2\r\n{}0\r\n\r\n')],
  [
    'a hexadecimal prefix of a chunk size',
    () => post('transfer-encoding: chunked\r\n', '0x2\r\n{}\r\n0\r\n\r\n'),
  ],
  ['a negative chunk size', () => post('transfer-encoding: chunked\r\n', '-2\r\n{}\r\n0\r\n\r\n')],
  [
    'a chunk size above the maximum',
    () => post('transfer-encoding: chunked\r\n', '10000000000000002\r\n{}\r\n0\r\n\r\n'),
  ],
  ['a NUL in a header', () => head(`GET ${forms}`, 'x-a: a\0b\r\n')],
  ['a space in a header name', () => head(`GET ${forms}`, 'x a: b\r\n')],
  ['a header without a name', () => head(`GET ${forms}`, ': b\r\n')],
  ['a space in the path', () => head(`GET ${forms} x`)],
  ['a NUL in the path', () => head(`GET ${forms}\0`)],
  ['non-ASCII bytes in the path', () => head(`GET ${forms}/é`)],
  ['an unknown method', () => head(`FROB ${forms}`)],
  ['a lower-case method', () => head(`get ${forms}`)],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a TLS hello', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
]

describe.each(['the gateway', 'a service'] as const)('%s', (name) => {
  it.each(ambiguous)(
    'rejects %s and closes the connection without reading the next request',
    async (_, bytes) => {
      const { responses, ended } = await sendRaw(ports[name], bytes() + smuggled())

      expect(responses.map(({ status }) => status)).toEqual([400])
      expect(JSON.parse(responses[0]!.body).error.details[0].reason).toBe('MALFORMED_REQUEST')
      expect(ended).toBe(true)
      expect(gateway.forms.received).toEqual([])
    },
  )

  it('rejects an unknown transfer coding and closes the connection', async () => {
    const bytes = post('transfer-encoding: xchunked\r\n', inChunks)

    const { responses, ended } = await sendRaw(ports[name], bytes + smuggled())

    expect(responses.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 415])])
    expect(ended).toBe(true)
    expect(gateway.forms.received).toEqual([])
  })

  it.each([
    ['a long path', () => head(`GET ${forms}/${'a'.repeat(200_000)}`)],
    ['a long header', () => head(`GET ${forms}`, `x-long: ${'a'.repeat(200_000)}\r\n`)],
    [
      'a thousand headers',
      () => head(`GET ${forms}`, Array.from({ length: 1_000 }, (_, i) => `h${i}: 1\r\n`).join('')),
    ],
  ])('rejects %s with 431 instead of truncating it', async (_, bytes) => {
    const { responses, ended } = await sendRaw(ports[name], bytes())

    expect(responses.map(({ status }) => status)).toEqual([431])
    expect(JSON.parse(responses[0]!.body).error.details[0].reason).toBe('HEAD_TOO_LARGE')
    expect(ended).toBe(true)
    expect(gateway.forms.received).toEqual([])
  })

  it('reads all of 900 headers', async () => {
    const many = Array.from({ length: 900 }, (_, i) => `h${i}: 1\r\n`).join('')
    const path = name === 'the gateway' ? forms : '/x'

    const { responses } = await sendRaw(
      ports[name],
      head(`GET ${path}`, `${many}if-none-match: "last"\r\n`),
      {
        responses: 1,
      },
    )

    expect(responses[0]!.status).toBe(200)
    expect(gateway.forms.received[0]!.headers['if-none-match']).toBe('"last"')
  })
})

describe('the gateway', () => {
  const port = () => ports['the gateway']

  it.each<[string, () => string, number]>([
    [
      'a GET with a body',
      () => head(`GET ${forms}`, `content-length: ${smuggled().length}\r\n`) + smuggled(),
      200,
    ],
    [
      'a HEAD with a body',
      () => head(`HEAD ${forms}`, `content-length: ${smuggled().length}\r\n`) + smuggled(),
      200,
    ],
    [
      'chunks with extensions',
      () => post('transfer-encoding: chunked\r\n', '2;a=b;c="d"\r\n{}\r\n0;e\r\n\r\n'),
      200,
    ],
    [
      'trailers',
      () =>
        post(
          'te: trailers\r\ntrailer: x-fms-identity\r\ntransfer-encoding: chunked\r\n',
          `2\r\n{}\r\n0\r\nx-fms-identity: forged\r\n\r\n`,
        ),
      200,
    ],
    ['100-continue', () => post('expect: 100-continue\r\ncontent-length: 2\r\n', '{}'), 200],
    [
      'a WebSocket upgrade',
      () =>
        head(
          `GET ${forms}`,
          'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
        ),
      200,
    ],
    [
      'an upgrade to HTTP/2',
      () =>
        head(
          `GET ${forms}`,
          'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n',
        ),
      200,
    ],
    [
      'hop-by-hop headers',
      () =>
        head(
          `GET ${forms}`,
          'connection: x-fms-identity, x-request-id, content-length\r\nkeep-alive: timeout=9\r\nproxy-authorization: Basic eA==\r\nproxy-connection: keep-alive\r\nte: trailers\r\n',
        ),
      200,
    ],
    [
      'a forged identity',
      () =>
        head(
          `GET ${forms}`,
          'x-fms-identity: forged\r\nX-FMS-Identity: forged\r\nx_fms_identity: forged\r\n',
        ),
      200,
    ],
    ['an absolute-form target', () => head(`GET http://127.0.0.1:1${forms}`), 200],
  ])('forwards %s as one request without headers of the client', async (_, bytes, status) => {
    const isHead = bytes().startsWith('HEAD')

    const { responses } = await sendRaw(port(), bytes(), { responses: 1, heads: isHead ? [0] : [] })
    await delay(20)

    expect(responses.map((response) => response.status)).toEqual([status])
    expect(gateway.forms.received).toHaveLength(1)
    const [{ method, url, headers, body }] = gateway.forms.received as [(typeof gateway.forms.received)[0]]
    expect(url).toBe(`/organizations/${gateway.organization.organizationId}/forms`)
    expect(body).toBe(method === 'POST' ? '{}' : '')
    const { 'content-type': type, 'content-length': length, 'x-request-id': id, ...rest } = headers
    expect([type, length]).toEqual(method === 'POST' ? ['application/json', '2'] : [undefined, undefined])
    expect(id).toBeTruthy()
    expect(rest).toEqual({
      host: `127.0.0.1:${gateway.forms.port}`,
      connection: isHead ? 'close' : 'keep-alive',
      'x-fms-identity': expect.stringMatching(/^eyJ/),
    })
  })

  it('returns no identity, cookie or hop-by-hop header of a service', async () => {
    gateway.forms.respond = (_, reply) =>
      reply
        .headers({
          'x-fms-identity': 'eyJ.eyJ.x',
          'set-cookie': 'a=b',
          server: 'forms',
          upgrade: 'h2c',
          trailer: 'x-a',
          'proxy-authenticate': 'Basic',
          'x-internal': '1',
          'access-control-allow-origin': '*',
        })
        .send({})

    const { responses } = await sendRaw(port(), head(`GET ${forms}`), { responses: 1 })

    expect(Object.keys(responses[0]!.headers).sort()).toEqual([
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'vary',
      'x-content-type-options',
      'x-request-id',
    ])
  })

  it.each([
    ['CONNECT', '127.0.0.1:22'],
    ['CONNECT', forms],
  ])('opens no tunnel for %s %s', async (method, target) => {
    const { responses, ended } = await sendRaw(port(), head(`${method} ${target}`))

    expect([responses.map(({ status }) => status), ended]).toEqual([[400], true])
  })

  it.each([
    ['TRACE', forms, 405],
    ['PURGE', forms, 405],
    ['QUERY', forms, 405],
    ['OPTIONS', '*', 404],
    ['GET', '*', 404],
    ['GET', '/v2/..//organizations', 404],
    ['GET', '//127.0.0.1/v2/organizations', 404],
    ['GET', '/v2\\organizations', 404],
    ['GET', '/v2/organizations;a=b', 404],
    ['GET', '/v2/%6frganizations/%2e%2e/internal/authorize', 404],
  ])('rejects %s %s with %i without echoing a header', async (method, target, status) => {
    const { responses } = await sendRaw(port(), head(`${method} ${target}`, 'x-secret: echo-me\r\n'), {
      responses: 1,
    })

    expect(responses[0]!.status).toBe(status)
    expect(JSON.parse(responses[0]!.body).error.code).toBe(status)
    expect(JSON.stringify(responses[0])).not.toContain('echo-me')
    expect(gateway.forms.received).toEqual([])
  })
})

describe('pipelined requests', () => {
  it('get their own responses in order while another client sends requests', async () => {
    const other = gateway.directory.createKey([
      { organizationId: crypto.randomUUID(), slug: 'other', role: 'editor' },
    ])
    gateway.forms.respond = async ({ url }) => {
      const formRef = url.split('/').at(-1)
      await delay((Number(formRef) * 7) % 11)
      return { formRef }
    }
    // One gets its response, 16 wait.
    const numbers = Array.from({ length: 17 }, (_, number) => number)
    const all = (slug: string, key: string) =>
      numbers
        .map(
          (number) =>
            `GET /v2/organizations/${slug}/forms/${number} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nx-request-id: ${slug}-${number}\r\n\r\n`,
        )
        .join('')

    const [mine, theirs] = await Promise.all([
      sendRaw(ports['the gateway'], all('acme', gateway.key), { responses: 17 }),
      sendRaw(ports['the gateway'], all('other', other), { responses: 17 }),
    ])

    for (const [responses, slug] of [
      [mine.responses, 'acme'],
      [theirs.responses, 'other'],
    ] as const) {
      expect(responses.map(({ body }) => JSON.parse(body))).toEqual(
        numbers.map((number) => ({ formRef: `${number}` })),
      )
      expect(responses.map(({ headers }) => headers['x-request-id'])).toEqual(
        numbers.map((number) => `${slug}-${number}`),
      )
    }
  })

  it('end their connection when more than 16 wait for their turn', async () => {
    const before = gateway.forms.received.length
    gateway.forms.respond = async () => {
      await delay(50)
      return {}
    }
    const request = `GET ${forms} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n\r\n`

    const { responses } = await sendRaw(ports['the gateway'], request.repeat(1_000), { responses: 1_000 })

    expect(responses).toEqual([])
    expect(gateway.forms.received.length - before).toBeLessThanOrEqual(17)
  })

  it('get no other response when the next request is malformed', async () => {
    // With a cached authorization the request reaches forms before the malformed one closes the connection.
    await gateway.send('GET', forms)
    const received = Promise.withResolvers<void>()
    gateway.forms.respond = async () => {
      received.resolve()
      await delay(50)
      return {}
    }

    const { responses, ended } = await sendRaw(
      ports['the gateway'],
      `${head(`GET ${forms}`)}FROB / HTTP/1.1\r\n\r\n`,
    )

    await received.promise
    expect(ended).toBe(true)
    expect(responses.filter(({ status }) => status !== 200)).toEqual([])
  })
})
