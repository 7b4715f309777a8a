import { once } from 'node:events'
import { Agent as HttpAgent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Agent } from 'undici'
import { describe, expect, it, vi } from 'vitest'
import { createApp } from './create-app.ts'

/**
 * An app and a client with keep-alive; requests of `/slow` wait for `finish`. `/endless` responds without end, and
 * `/endless?slow` begins that after `finish`.
 */
const start = async (newConnections: 'listen' | 'refuse') => {
  const app = createApp({ logger: pino({ level: 'silent' }), isBehindGateway: newConnections === 'refuse' })
  const arrived = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  app.get('/fast', async () => ({}))
  app.get('/slow', async () => {
    arrived.resolve()
    await slow.promise
    return {}
  })
  app.get('/endless', async ({ url }, reply) => {
    arrived.resolve()
    if (url.endsWith('?slow')) await slow.promise
    const { raw } = reply.hijack()
    raw.writeHead(200).write('begun ')
    app.endOnDrain(raw, () => raw.end('ended'))
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ connections: 1 })
  const get = async (path: string, dispatcher = agent) => {
    const { statusCode, headers, body } = await dispatcher.request({ origin, path, method: 'GET' })
    await body.dump()
    return [statusCode, headers.connection]
  }
  const getWithNewConnection = () => {
    const dispatcher = new Agent()
    return get('/readyz', dispatcher).finally(() => dispatcher.destroy())
  }
  /** Resolves with the head of the response. The connection stays open for a minute after the body's end. */
  const openEndless = async (query = '') => {
    const { headers, body } = await agent.request({ origin, path: `/endless${query}`, method: 'GET' })
    return { connection: headers.connection, text: body.text() }
  }
  return {
    app,
    get,
    openEndless,
    getWithNewConnection,
    arrived: arrived.promise,
    finish: slow.resolve,
    async [Symbol.asyncDispose]() {
      await agent.destroy()
      await app.close()
    },
  }
}

describe('an app that drains', () => {
  it('serves one more request on an idle connection, then closes it', async () => {
    await using service = await start('refuse')
    expect(await service.get('/fast')).toEqual([200, 'keep-alive'])

    const drained = service.app.drain(60_000)

    expect(await service.get('/fast')).toEqual([200, 'close'])
    await drained
  })

  it('waits for requests in flight', async () => {
    await using service = await start('refuse')
    const response = service.get('/slow')
    await service.arrived

    const drained = service.app.drain(1).then(() => 'drained')
    expect(await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).toBe(
      'waits',
    )
    service.finish()

    expect((await response)[0]).toBe(200)
    await drained
  })

  it('refuses new connections where callers find another address', async () => {
    await using service = await start('refuse')
    await service.get('/fast')
    const drained = service.app.drain(200)
    await expect(service.getWithNewConnection()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await drained
  })

  it('is not ready for a load balancer, and accepts its connections until the end', async () => {
    await using service = await start('listen')
    const drained = service.app.drain(200)
    expect(await service.getWithNewConnection()).toEqual([503, 'close'])
    expect(await service.get('/fast')).toEqual([200, 'close'])
    await drained
  })

  it('does not wait with a timeout of 0', async () => {
    await using service = await start('listen')
    await service.get('/fast')
    await service.app.drain(0)
    expect(await service.get('/fast')).toEqual([200, 'close'])
  })
})

describe('an endless response', () => {
  it('ends with its connection when the app drains', async () => {
    await using service = await start('refuse')
    const { connection, text } = await service.openEndless()
    expect(connection).toBe('keep-alive')

    const drained = service.app.drain(3_600_000)

    expect(await text).toBe('begun ended')
    await drained
  })

  it('ends at once, with its connection, if it begins while the app drains', async () => {
    await using service = await start('refuse')
    const opened = service.openEndless('?slow')
    await service.arrived
    const drained = service.app.drain(3_600_000)
    service.finish()

    expect(await (await opened).text).toBe('begun ended')
    await drained
  })

  it('ends at once on a connection from before the drain', async () => {
    await using service = await start('refuse')
    await service.get('/fast')
    const drained = service.app.drain(3_600_000)
    const { connection, text } = await service.openEndless()

    expect([connection, await text]).toEqual(['close', 'begun ended'])
    await drained
  })

  it('ends when the app drains for a load balancer, and again when it closes', async () => {
    await using service = await start('listen')
    const before = await service.openEndless()
    const drained = service.app.drain(200)
    expect(await before.text).toBe('begun ended')
    const during = await service.openEndless()
    await drained

    const closed = service.app.close()

    expect(await during.text).toBe('begun ended')
    await closed
  })

  it('ends at once if it begins while the app closes', async () => {
    await using service = await start('listen')
    const opened = service.openEndless('?slow')
    await service.arrived
    const closed = service.app.close()
    await vi.waitUntil(() => !service.app.server.listening, { timeout: 10_000 })
    service.finish()

    expect(await (await opened).text).toBe('begun ended')
    await closed
  })
})

describe('an app that closes', () => {
  it('does not wait for the client of a request that was in flight', async () => {
    const app = createApp({ logger: pino({ level: 'silent' }) })
    const arrived = Promise.withResolvers<void>()
    const result = Promise.withResolvers<object>()
    app.get('/slow', () => {
      arrived.resolve()
      return result.promise
    })
    const origin = await app.listen({ port: 0 })
    const sent = request(`${origin}/slow`, { agent: new HttpAgent({ keepAlive: true }) }).end()
    await arrived.promise

    const closed = app.close()
    result.resolve({})

    const [response] = await once(sent, 'response')
    expect(response.resume().statusCode).toBe(200)
    await closed
  })

  it('sends a response to its end, however late its client reads it', async () => {
    const app = createApp({ logger: pino({ level: 'silent' }) })
    /** Longer than the buffers of two sockets. */
    const long = 'x'.repeat(16 * 1024 * 1024)
    app.get('/long', async () => long)
    const origin = await app.listen({ port: 0 })
    const [response] = await once(request(`${origin}/long`, { agent: new HttpAgent() }).end(), 'response')

    const closed = app.close()
    await delay(200)

    expect(await text(response)).toHaveLength(long.length)
    await closed
  })
})
