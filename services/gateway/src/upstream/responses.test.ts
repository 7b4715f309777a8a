import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { maxBufferedBytes } from '../config.ts'
import { maxShortBytes, sendBuffered } from './upstream.ts'

const startServer = async (listener: RequestListener) => {
  await using stack = new AsyncDisposableStack()
  const server = createServer(listener).listen(0, '127.0.0.1')
  stack.defer(async () => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const agent = new Agent()
  stack.defer(() => agent.destroy())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const resources = stack.move()
  return {
    send: (method: 'GET' | 'HEAD' = 'GET') => sendBuffered(agent, { origin, path: '/', method }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

const respond =
  (bytes: number): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes, ' '))

describe('a response of a service', () => {
  it('is returned as bytes up to 256 KiB, and as a stream beyond', async () => {
    await using short = await startServer(respond(maxShortBytes))
    await using long = await startServer(respond(maxShortBytes + 1))

    expect((await short.send()).body).toHaveLength(maxShortBytes)
    expect((await long.send()).body).toBeInstanceOf(Readable)
  })

  it('is empty for HEAD, whatever its content-length, and for 304, which has none', async () => {
    await using server = await startServer(({ method }, response) =>
      method === 'HEAD'
        ? response.writeHead(200, { 'content-length': 2 * maxShortBytes }).end()
        : response.writeHead(304).end(),
    )

    expect((await server.send('HEAD')).body).toHaveLength(0)
    expect((await server.send()).body).toHaveLength(0)
  })

  it('is buffered as a whole when its consumer starts to read, which releases the connection', async () => {
    await using server = await startServer(respond(maxBufferedBytes))
    const body = (await server.send()).body as Readable
    expect(body.readableLength).toBe(0)

    body.once('readable', () => {})

    await expect.poll(() => body.readableLength, { timeout: 10_000 }).toBe(maxBufferedBytes)
  })
})
