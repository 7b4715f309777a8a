import { pino } from 'pino'
import { Agent } from 'undici'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'
import type { NewConnections } from './drain.ts'

/** An app with a caller who keeps connections, and a request under way that the test lets go. */
const start = async (newConnections: NewConnections) => {
  const app = createApp({ logger: pino({ level: 'silent' }), newConnections })
  const arrived = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  app.get('/fast', async () => ({}))
  app.get('/slow', async () => {
    arrived.resolve()
    await slow.promise
    return {}
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ connections: 1 })
  const get = async (path: string, dispatcher = agent) => {
    const { statusCode, headers, body } = await dispatcher.request({ origin, path, method: 'GET' })
    await body.dump()
    return [statusCode, headers.connection]
  }
  const stranger = () => {
    const dispatcher = new Agent()
    return get('/readyz', dispatcher).finally(() => dispatcher.destroy())
  }
  return {
    app,
    get,
    stranger,
    arrived: arrived.promise,
    finish: slow.resolve,
    async [Symbol.asyncDispose]() {
      await agent.destroy()
      await app.close()
    },
  }
}

describe('an app that drains', () => {
  it('answers once more on a connection that was idle, and ends it', async () => {
    await using service = await start('refuse')
    expect(await service.get('/fast')).toEqual([200, 'keep-alive'])

    const drained = service.app.drain(60_000)

    expect(await service.get('/fast')).toEqual([200, 'close'])
    await drained
  })

  it('answers what is under way before it says that it is done', async () => {
    await using service = await start('refuse')
    const answer = service.get('/slow')
    await service.arrived

    const drained = service.app.drain(1).then(() => 'drained')
    expect(await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).toBe(
      'waits',
    )
    service.finish()

    expect((await answer)[0]).toBe(200)
    await drained
  })

  it('takes no new connections where callers find another address', async () => {
    await using service = await start('refuse')
    await service.get('/fast')
    const drained = service.app.drain(200)
    await expect(service.stranger()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await drained
  })

  it('tells a balancer that it is not ready, and takes its connections until then', async () => {
    await using service = await start('listen')
    const drained = service.app.drain(200)
    expect(await service.stranger()).toEqual([503, 'close'])
    expect(await service.get('/fast')).toEqual([200, 'close'])
    await drained
  })

  it('does not wait where there is nobody to move over to', async () => {
    await using service = await start('listen')
    await service.get('/fast')
    await service.app.drain(0)
    expect(await service.get('/fast')).toEqual([200, 'close'])
  })
})
