import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

/** Everything that a service says to these bytes until it ends the connection. */
const answerTo = async (bytes: string): Promise<string> => {
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

describe('broken HTTP', () => {
  it.each([
    ['a method that is none', 'FROB / HTTP/1.1\r\nhost: x\r\n\r\n', '400 Bad Request'],
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
  ])('in the form of %s is answered without a body, and the connection ends', async (_, bytes, status) => {
    expect(await answerTo(bytes)).toBe(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  })
})

describe('a client that is slow', () => {
  /** What the app says to it, and whether another client is served meanwhile. */
  const dribble = async (head: string) => {
    const app = createApp({
      logger: pino({ level: 'silent' }),
      headTimeoutMs: 100,
      requestTimeoutMs: 200,
    })
    app.post('/things', async ({ body }) => body)
    const origin = await app.listen()
    const socket = connect((app.server.address() as AddressInfo).port, 'localhost')
    socket.write(head)
    // No drop that could meet the end of the connection, which would cost the answer.
    const until = performance.now() + 60
    const drop = setInterval(() => performance.now() < until && socket.write('x'), 20)
    try {
      const meanwhile = await fetch(`${origin}/healthz`)
      return { answer: await text(socket), meanwhile: meanwhile.status }
    } finally {
      clearInterval(drop)
      await app.close()
    }
  }

  it.each([
    ['head', 'GET / HTTP/1.1\r\nhost: x\r\nlong: '],
    [
      'body',
      'POST /things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n',
    ],
  ])('with its %s is told so and let go, and keeps nobody waiting', async (_, head) => {
    expect(await dribble(head)).toEqual({
      answer: 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
      meanwhile: 200,
    })
  })
})
