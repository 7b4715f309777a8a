import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'

/** Sends bytes to an app. @returns all that it sends until it closes the connection. */
const exchange = async (...bytes: (string | Buffer)[]): Promise<string> => {
  const app = createApp({ logger: pino({ level: 'silent' }) })
  app.post('/things', async ({ body }) => body)
  await app.listen()
  try {
    const socket = connect((app.server.address() as AddressInfo).port, 'localhost')
    for (const each of bytes) socket.write(each)
    return await text(socket)
  } finally {
    await app.close()
  }
}

const things = (head: string) => `POST /things HTTP/1.1\r\nconnection: close\r\n${head}\r\n\r\n`

describe('ambiguous HTTP', () => {
  it.each([
    ['no Host', 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', ''],
    ['two Hosts', things('host: a\r\nHOST: b\r\ncontent-type: application/json\r\ncontent-length: 2'), '{}'],
    [
      'another version in the request line',
      'GET /healthz HTTP/2.0\r\nhost: a\r\nconnection: close\r\n\r\n',
      '',
    ],
  ])('with %s is malformed', async (_, head, body) => {
    const response = await exchange(head, body)

    expect(response).toMatch(/^HTTP\/1.1 400 /)
    expect(response).toContain('"reason":"MALFORMED_REQUEST"')
    expect(response).toContain('x-content-type-options: nosniff')
  })

  it.each(['http://%/', 'http://[/', 'http://%zz/things', 'http:///things', 'http://a/things#b'])(
    'with the target %s, which is no URL, is not found',
    async (target) => {
      const response = await exchange(`GET ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)

      expect(response).toMatch(/^HTTP\/1.1 404 /)
      expect(response).toContain('"reason":"PATH_NOT_FOUND"')
      expect(response).toContain('x-content-type-options: nosniff')
    },
  )

  it('does not include the target of a proxy, a whole URL', async () => {
    const response = await exchange('GET http://a/things HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')

    expect(response).toMatch(/^HTTP\/1.1 405 /)
    expect(response).toContain('\r\nallow: POST\r\n')
  })

  const json = 'host: a\r\ncontent-type: application/json'
  const zipped = gzipSync('{}')

  it.each([
    ['gzip', [things(`${json}\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}`), zipped]],
    ['br', [things(`${json}\r\ncontent-encoding: br\r\ncontent-length: 2`), '{}']],
    ['gzip, chunked', [things(`${json}\r\ntransfer-encoding: gzip, chunked`), '2\r\n{}\r\n0\r\n\r\n']],
  ])('with a body coded as %s is rejected before the body is read', async (coding, bytes) => {
    const response = await exchange(...bytes)

    expect(response).toMatch(/^HTTP\/1.1 415 /)
    expect(response).toContain(
      `"reason":"UNSUPPORTED_MEDIA_TYPE","domain":"forms","metadata":{"contentType":"application/json","coding":"${coding}"}`,
    )
  })

  it('does not include unknown expectations, which are ignored', async () => {
    const expecting = things(`${json}\r\nexpect: 200-ok\r\ncontent-length: 2`)

    expect(await exchange(expecting, '{}')).toMatch(/^HTTP\/1.1 200 /)
  })

  it.each([
    ['identity', [things(`${json}\r\ncontent-encoding: identity\r\ncontent-length: 2`), '{}']],
    ['no coding', [things(`${json}\r\ncontent-encoding:\r\ncontent-length: 2`), '{}']],
    ['chunks', [things(`${json}\r\ntransfer-encoding: Chunked`), '2\r\n{}\r\n0\r\n\r\n']],
  ])('does not include a body in %s', async (_, bytes) => {
    expect(await exchange(...bytes)).toMatch(/^HTTP\/1.1 200 /)
  })
})
