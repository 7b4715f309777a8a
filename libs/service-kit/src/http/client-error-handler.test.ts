import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

/**
 * Sends bytes to an app, and calls `then` once it reads the body or has responded.
 *
 * @returns all that it sends until it closes the connection.
 */
const exchange = async (bytes: string, then = (_: Socket) => {}, lines: object[] = []): Promise<string> => {
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  const app = createApp({ logger })
  app.post('/here', async () => ({}))
  app.post('/later', { onRequest: () => new Promise(setImmediate) }, async () => ({}))
  app.get('/held', () => new Promise(() => {}))
  await app.listen()
  try {
    const socket = connect((app.server.address() as AddressInfo).port, 'localhost')
    app.server.once('request', () => setImmediate(then, socket))
    socket.write(bytes)
    return await text(socket)
  } finally {
    await app.close()
  }
}

/** The status, headers and body of the only response. */
const read = (response: string) => {
  const [head = '', body = '', ...more] = response.split('\r\n\r\n')
  expect(more).toEqual([])
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]))
  return { status: Number(/^HTTP\/1.1 (\d{3}) /.exec(statusLine)?.[1]), headers, body }
}

const jsonInChunks = 'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'

const sendBadChunk = (socket: Socket) => void socket.write('zz\r\n')

describe('invalid HTTP', () => {
  it.each([
    ['an unknown method', 'FROB / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['CONNECT', 'CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['bad chunks', `POST /here HTTP/1.1\r\nhost: x\r\n${jsonInChunks}zz\r\n`, 400, 'MALFORMED_REQUEST'],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(33 * 1024)}\r\n\r\n`,
      431,
      'HEAD_TOO_LARGE',
    ],
  ])('with %s receives an error with a reason, as its last', async (_, bytes, code, reason) => {
    const { status, headers, body } = read(await exchange(bytes))

    expect(status).toBe(code)
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      connection: 'close',
      'content-length': `${Buffer.byteLength(body)}`,
      'content-type': 'application/json; charset=utf-8',
      date: expect.any(String),
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    })
    const requestId = headers.get('x-request-id')
    expect(JSON.parse(body).error).toMatchObject({ code, details: [{ reason }, { requestId }] })
  })

  it('in a body that is read is an error of its request, which is logged', async () => {
    const lines: object[] = []
    const bytes = `POST /here HTTP/1.1\r\nhost: x\r\nx-request-id: mine\r\n${jsonInChunks}1\r\n{\r\n`
    const { status, headers, body } = read(await exchange(bytes, sendBadChunk, lines))

    expect([status, headers.get('connection'), headers.get('x-request-id')]).toEqual([400, 'close', 'mine'])
    expect(JSON.parse(body).error.details[0].reason).toBe('MALFORMED_REQUEST')
    expect(lines).toContainEqual(expect.objectContaining({ request_id: 'mine', route: '/here', status: 400 }))
  })

  it('in a body that ends early receives an error with a reason', async () => {
    const bytes =
      'POST /here HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{'
    const { status, body } = read(await exchange(bytes, (socket) => socket.end()))

    expect([status, JSON.parse(body).error.details[0].reason]).toEqual([400, 'MALFORMED_REQUEST'])
  })

  it('of a HEAD has no body in its response', async () => {
    const bytes = 'HEAD /held HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'
    const { status, headers, body } = read(await exchange(bytes))

    expect([status, body]).toEqual([400, ''])
    expect(Number(headers.get('content-length'))).toBeGreaterThan(0)
  })

  it('after a request gets the response to that request, as the last', async () => {
    const body = '{"name":"é"}'
    const request = `POST /later HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const response = read(await exchange(`${request}GET /here HTTP/1.1\r\nhost: x\r\n\r\n`))

    expect([response.status, response.headers.get('connection')]).toEqual([400, 'close'])
    expect(JSON.parse(response.body).error.details[0].reason).toBe('MALFORMED_JSON')
  })

  it('with CONNECT ends the connection, also during an earlier request', async () => {
    const lines: object[] = []
    const bytes = 'GET /held HTTP/1.1\r\nhost: x\r\n\r\nCONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n'

    expect(await exchange(bytes, undefined, lines)).toBe('')
    expect(lines).toContainEqual(expect.objectContaining({ route: '/held', msg: 'client disconnected' }))
  })

  it('after the response to its request gets no other one', async () => {
    const bytes = `POST /nowhere HTTP/1.1\r\nhost: x\r\n${jsonInChunks}1\r\n{\r\n`

    expect(read(await exchange(bytes, sendBadChunk)).status).toBe(404)
  })
})

describe('a slow client', () => {
  const lines: object[] = []

  /** Sends a request slowly. @returns the response, and the status of another client's request meanwhile. */
  const sendSlowly = async (head: string, part = 'x') => {
    const app = createApp({ logger: pino({}, { write: (line) => lines.push(JSON.parse(line)) }) })
    Object.assign(app.server, { headersTimeout: 100, requestTimeout: 200 })
    app.post('/things', async ({ body }) => body)
    app.get('/held', () => new Promise(() => {}))
    const origin = await app.listen()
    const socket = connect((app.server.address() as AddressInfo).port, 'localhost')
    socket.write(head)
    // A byte that arrives after the app has closed the connection would reset it and lose the response.
    const until = performance.now() + 60
    const timer = setInterval(() => performance.now() < until && socket.write(part), 20)
    try {
      const meanwhile = await fetch(`${origin}/healthz`)
      return { response: await text(socket), meanwhile: meanwhile.status }
    } finally {
      clearInterval(timer)
      await app.close()
    }
  }

  it.each([
    ['a head', 'GET / HTTP/1.1\r\nhost: x\r\nlong: '],
    ['the body of a GET', 'GET /held HTTP/1.1\r\nhost: x\r\ncontent-length: 999\r\n\r\n'],
  ])('of %s receives an error with a reason, and does not delay other clients', async (_, head) => {
    const { response, meanwhile } = await sendSlowly(head)

    const { status, headers, body } = read(response)
    expect([status, headers.get('connection'), meanwhile]).toEqual([408, 'close', 200])
    expect(JSON.parse(body).error.details[0].reason).toBe('REQUEST_TIMEOUT')
  })

  it('of a body gets no second response after an early one', async () => {
    const head = 'POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 999\r\n\r\n'

    expect(read((await sendSlowly(head)).response).status).toBe(404)
  })

  it.each([
    ['content-length: 999', 'content-type: application/json\r\n'],
    ['transfer-encoding: chunked', ''],
  ])('of a body with %s receives an error with a reason, as its last', async (framing, type) => {
    const head = `POST /things HTTP/1.1\r\nhost: x\r\nx-request-id: slow\r\n${type}${framing}\r\n\r\n`
    const { response, meanwhile } = await sendSlowly(
      head,
      framing === 'transfer-encoding: chunked' ? '' : 'x',
    )

    const { status, headers, body } = read(response)
    expect([status, headers.get('connection')]).toEqual([408, 'close'])
    expect(JSON.parse(body).error).toMatchObject({
      code: 408,
      details: [{ reason: 'REQUEST_TIMEOUT' }, { requestId: 'slow' }],
    })
    expect(meanwhile).toBe(200)
    const logged = expect.objectContaining({ request_id: 'slow', route: '/things', status: 408 })
    expect(lines).toContainEqual(logged)
  })
})
