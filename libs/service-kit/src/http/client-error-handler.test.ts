import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

/** Sends bytes to an app. @returns all that it sends until it closes the connection. */
const exchange = async (bytes: string): Promise<string> => {
  const app = createApp({ logger: pino({ level: 'silent' }), maxHeaderBytes: 8 * 1024 })
  app.post('/here', async () => ({}))
  await app.listen()
  try {
    const socket = connect((app.server.address() as AddressInfo).port, 'localhost')
    socket.write(bytes)
    return await text(socket)
  } finally {
    await app.close()
  }
}

describe('invalid HTTP', () => {
  it.each([
    ['an unknown method', 'FROB / HTTP/1.1\r\nhost: x\r\n\r\n', '400 Bad Request'],
    [
      'bad chunks',
      'POST /here HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      '400 Bad Request',
    ],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(9 * 1024)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
  ])('with %s has a response without a body, and closes the connection', async (_, bytes, status) => {
    expect(await exchange(bytes)).toBe(
      `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\nx-content-type-options: nosniff\r\n\r\n`,
    )
  })
})

describe('a slow client', () => {
  const lines: object[] = []

  /** Sends a request slowly. @returns the response, and the status of another client's request meanwhile. */
  const sendSlowly = async (head: string, part = 'x') => {
    const app = createApp({
      logger: pino({}, { write: (line) => lines.push(JSON.parse(line)) }),
      headTimeoutMs: 100,
      requestTimeoutMs: 200,
    })
    app.post('/things', async ({ body }) => body)
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

  it('of a head receives 408 without a body, and does not delay other clients', async () => {
    expect(await sendSlowly('GET / HTTP/1.1\r\nhost: x\r\nlong: ')).toEqual({
      response:
        'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\nx-content-type-options: nosniff\r\n\r\n',
      meanwhile: 200,
    })
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

    const [responseHead = '', body = ''] = response.split('\r\n\r\n')
    expect(responseHead).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n.*\bconnection: close\r\n/s)
    expect(JSON.parse(body).error).toMatchObject({
      code: 408,
      details: [{ reason: 'REQUEST_TIMEOUT' }, { requestId: 'slow' }],
    })
    expect(meanwhile).toBe(200)
    const logged = expect.objectContaining({ request_id: 'slow', route: '/things', status: 408 })
    expect(lines).toContainEqual(logged)
  })
})
