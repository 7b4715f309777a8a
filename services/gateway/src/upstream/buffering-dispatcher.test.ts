import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { maxBufferedBytes, maxShortBytes, sendBuffered } from './buffering-dispatcher.ts'

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
  const kept = stack.move()
  return {
    send: (method: 'GET' | 'HEAD' = 'GET') => sendBuffered(agent, { origin, path: '/', method }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const respond =
  (bytes: number): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes, ' '))

describe('a response of a service', () => {
  it('is bytes up to 256 KiB, and a stream beyond', async () => {
    await using short = await startServer(respond(maxShortBytes))
    await using long = await startServer(respond(maxShortBytes + 1))

    expect((await short.send()).body).toHaveLength(maxShortBytes)
    expect((await long.send()).body).toBeInstanceOf(Readable)
  })

  it('is no bytes to HEAD, whatever length it tells, and with 304, which tells none', async () => {
    await using server = await startServer(({ method }, response) =>
      method === 'HEAD'
        ? response.writeHead(200, { 'content-length': 2 * maxShortBytes }).end()
        : response.writeHead(304).end(),
    )

    expect((await server.send('HEAD')).body).toHaveLength(0)
    expect((await server.send()).body).toHaveLength(0)
  })

  it('is buffered whole once somebody begins to read it, so that its connection is free', async () => {
    await using server = await startServer(respond(maxBufferedBytes))
    const body = (await server.send()).body as Readable
    expect(body.readableLength).toBe(0)

    body.once('readable', () => {})

    await expect.poll(() => body.readableLength).toBe(maxBufferedBytes)
  })
})
