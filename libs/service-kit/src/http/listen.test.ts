import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fastify } from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import { endIdleConnections } from './drain.ts'
import { limitConnections, limitPipelining, listen } from './listen.ts'

const host = '127.0.0.1'

/** An app that listens on a free port. */
const startApp = async (sockets: number, maxConnections = Number.POSITIVE_INFINITY) => {
  const app = fastify({ forceCloseConnections: 'idle' })
  endIdleConnections(app)
  app.decorateRequest('identity')
  app.addHook('onRequest', async (request) => {
    if (request.url.includes('caller')) request.identity = { service: 'test' } as never
  })
  limitConnections(app, maxConnections)
  app.get('/', async () => 'here')
  app.get('/caller', async () => 'here')
  app.get('/parts', (_, reply) => {
    const { raw } = reply.hijack()
    raw.write('one')
    setTimeout(() => {
      raw.write('two')
      setTimeout(() => raw.end('three'), 1)
    }, 1)
  })
  const held: (() => void)[] = []
  app.get('/held', () => new Promise<string>((resolve) => held.push(() => resolve('released'))))
  await listen(app, { host, port: 0, sockets })
  const { port } = app.server.address() as AddressInfo
  return { app, port, held, [Symbol.asyncDispose]: () => app.close() }
}

/** Connects sockets before the app, in the same event loop, accepts any. */
const connectAll = (port: number, count: number): Socket[] =>
  Array.from({ length: count }, () => connect(port, host).on('error', () => {}))

/** Sends a request. @returns the response; `undefined` when the connection is closed instead. */
const request = async (socket: Socket, path = '/'): Promise<string> => {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  const [response] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [])])
  return String(response)
}

describe('listen', () => {
  // Elsewhere one socket listens.
  it.runIf(process.platform === 'linux')(
    'accepts many connections in an iteration of the event loop',
    async () => {
      await using started = await startApp(16)
      const accepted: number[] = []
      started.app.server.on('connection', () => accepted.push(iteration))
      let iteration = 0
      const connections = connectAll(started.port, 64)

      while (accepted.length < 64) {
        iteration++
        await new Promise(setImmediate)
      }

      expect(new Set(accepted).size).toBeLessThan(32)
      for (const connection of connections) connection.destroy()
    },
  )

  it('serves connections of each socket, and closes with them', async () => {
    const started = await startApp(4)
    const connections = connectAll(started.port, 16)
    for (const connection of connections) expect(await request(connection)).toContain('here')
    const ended = Promise.all(connections.map((connection) => once(connection, 'close')))

    await started.app.close()

    await ended
    const refused = connect(started.port, host)
    await expect(once(refused, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('refuses new connections at once when it closes, and waits for those that others have accepted', async () => {
    // Almost surely one of the others accepts it.
    const { app, port, held } = await startApp(64)
    const connection = connect(port, host)
    connection.write('GET /held HTTP/1.1\r\nhost: a\r\n\r\n')
    await vi.waitFor(() => expect(held).toHaveLength(1))

    const closed = app.close()
    await vi.waitFor(async () => {
      const late = connect(port, host)
      await expect(once(late, 'connect').finally(() => late.destroy())).rejects.toThrow('ECONNREFUSED')
    })
    held[0]!()

    expect(await text(connection)).toContain('released')
    await closed
  })

  it('sends each part of a response at once, over a connection of whichever socket', async () => {
    await using started = await startApp(16)
    const connections = connectAll(started.port, 8)
    const fastest = async (socket: Socket) => {
      let least = Number.POSITIVE_INFINITY
      for (let count = 0; count < 16; count++) {
        const start = performance.now()
        socket.write('GET /parts HTTP/1.1\r\nhost: a\r\n\r\n')
        for (let text = ''; !text.endsWith('0\r\n\r\n'); ) text += (await once(socket, 'data'))[0]
        // At first, Linux acknowledges at once.
        if (count >= 10) least = Math.min(least, performance.now() - start)
      }
      socket.destroy()
      return least
    }

    // Linux delays an ACK by 40 ms.
    expect(Math.max(...(await Promise.all(connections.map(fastest))))).toBeLessThan(30)
  })

  it('fails where another app listens, whether with one socket or several', async () => {
    for (const sockets of [1, 4]) {
      await using started = await startApp(sockets)
      for (const own of [1, 4]) {
        const second = listen(fastify(), { host, port: started.port, sockets: own })
        await expect(second, `${sockets}, ${own}`).rejects.toMatchObject({ code: 'EADDRINUSE' })
      }
    }
  })
})

describe('limitConnections', () => {
  /** Connects a socket, and sends a request, `/` by default. @returns the socket and its response, unless that is held. */
  const open = async (port: number, path?: string) => {
    const [socket] = connectAll(port, 1) as [Socket]
    const response = request(socket, path)
    return { socket, response: path?.startsWith('/held') ? undefined : await response }
  }
  const close = (...opened: { socket: Socket }[]) => {
    for (const { socket } of opened) socket.destroy()
  }

  it('replaces the oldest idle unauthenticated connection of all sockets while those are half', async () => {
    await using started = await startApp(4, 4)
    const caller = await open(started.port, '/caller')
    const held = await open(started.port, '/held')
    await vi.waitFor(() => expect(started.held).toHaveLength(1))
    const first = await open(started.port)
    const second = await open(started.port)
    expect(await request(first.socket)).toContain('here')

    const third = await open(started.port)

    expect(third.response).toContain('here')
    await expect.poll(() => second.socket.closed).toBe(true)
    for (const { socket } of [caller, first, third]) expect(await request(socket)).toContain('here')
    started.held[0]!()
    expect(String(await once(held.socket, 'data'))).toContain('released')
    close(caller, held, first, third)
  })

  it('replaces the oldest unauthenticated connection at work if none is idle', async () => {
    await using started = await startApp(4, 2)
    const first = await open(started.port, '/held')
    await vi.waitFor(() => expect(started.held).toHaveLength(1))
    const second = await open(started.port, '/held')
    await vi.waitFor(() => expect(started.held).toHaveLength(2))

    const third = await open(started.port)

    expect(third.response).toContain('here')
    await expect.poll(() => first.socket.closed).toBe(true)
    for (const release of started.held) release()
    expect(String(await once(second.socket, 'data'))).toContain('released')
    close(second, third)
  })

  it('replaces an idle connection before one at work while authenticated ones at work are more than half', async () => {
    await using started = await startApp(4, 5)
    const callers = await Promise.all([1, 2, 3].map(() => open(started.port, '/held?as=caller')))
    await vi.waitFor(() => expect(started.held).toHaveLength(3))
    const atWork = await open(started.port, '/held')
    await vi.waitFor(() => expect(started.held).toHaveLength(4))
    const idle = await open(started.port)

    const next = await open(started.port)

    expect(next.response).toContain('here')
    await expect.poll(() => idle.socket.closed).toBe(true)
    for (const release of started.held) release()
    expect(String(await once(atWork.socket, 'data'))).toContain('released')
    close(...callers, atWork, next)
  })

  it('replaces the oldest idle authenticated connection while those are more than half, and none at work', async () => {
    await using started = await startApp(4, 3)
    const atWork = await open(started.port, '/held?as=caller')
    await vi.waitFor(() => expect(started.held).toHaveLength(1))
    const first = await open(started.port, '/caller')
    const second = await open(started.port, '/caller')

    const third = await open(started.port, '/held?as=caller')
    await expect.poll(() => first.socket.closed).toBe(true)
    await vi.waitFor(() => expect(started.held).toHaveLength(2))
    const fourth = await open(started.port, '/held?as=caller')
    await expect.poll(() => second.socket.closed).toBe(true)
    await vi.waitFor(() => expect(started.held).toHaveLength(3))

    expect((await open(started.port)).response).toBe('undefined')
    for (const release of started.held) release()
    expect(String(await once(atWork.socket, 'data'))).toContain('released')
    close(atWork, third, fourth)
  })

  it('counts connections that have ended no more', async () => {
    await using started = await startApp(4, 1)
    const first = await open(started.port, '/held?as=caller')
    await vi.waitFor(() => expect(started.held).toHaveLength(1))
    close(first)

    await expect
      .poll(async () => {
        const next = await open(started.port)
        close(next)
        return next.response
      })
      .toContain('here')
    started.held[0]!()
  })
})

describe('limitPipelining', () => {
  /** An app, and a connection with a request whose response waits and a second one, for a path. */
  const startPipeline = async (path: string, method = 'GET') => {
    const app = fastify()
    limitPipelining(app)
    const release = Promise.withResolvers<string>()
    app.get('/slow', () => release.promise)
    app.get('/here', async () => 'here')
    app.get('/unchanged', (_, reply) => reply.code(304).send())
    app.get('/destroyed', (_, reply) => void reply.hijack().raw.destroy())
    await app.listen({ host, port: 0 })
    const { port } = app.server.address() as AddressInfo
    const socket = connect(port, host).on('error', () => {})
    let requests = 0
    app.server.on('request', () => requests++)
    socket.write(`GET /slow HTTP/1.1\r\nhost: a\r\n\r\n${method} ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    await expect.poll(() => requests).toBe(2)
    return { socket, release, [Symbol.asyncDispose]: () => app.close() }
  }

  it('closes the connection of a response that is destroyed while it waits for another', async () => {
    await using pipeline = await startPipeline('/destroyed')
    pipeline.socket.resume()

    pipeline.release.resolve('slow')

    await expect.poll(() => pipeline.socket.closed).toBe(true)
  })

  it.each([
    ['GET', '/here'],
    ['HEAD', '/here'],
    ['GET', '/unchanged'],
  ])('keeps the connection of a %s of %s that waits for another', async (method, path) => {
    await using pipeline = await startPipeline(path, method)
    let text = ''
    pipeline.socket.on('data', (chunk) => {
      text += chunk
    })

    pipeline.release.resolve('slow')

    await expect.poll(() => text.match(/HTTP\/1.1/g)).toHaveLength(2)
    expect(await request(pipeline.socket)).toContain('404')
    pipeline.socket.destroy()
  })
})
