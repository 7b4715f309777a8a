import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

/** Everything that a service says to these bytes until it ends the connection. */
const answerTo = async (bytes: string): Promise<string> => {
  const app = createApp({ logger: pino({ level: 'silent' }), maxHeaderBytes: 8 * 1024 })
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
      'POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
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
