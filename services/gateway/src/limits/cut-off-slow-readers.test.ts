import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp, limitPipelining } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { startLog } from '../testing.ts'
import { cutOffSlowReaders } from './cut-off-slow-readers.ts'

const mib = 1024 * 1024
/** Longer than the buffers of two sockets. */
const long = Buffer.alloc(16 * mib, ' ')
const never = 60_000

/** A server of long responses, with short intervals. */
const startServer = async (limits: { stalledMs: number; windowMs: number; minBytes: number }) => {
  const log = startLog()
  const app = createApp({ logger: log.logger })
  limitPipelining(app)
  cutOffSlowReaders(app, { ...limits, intervalMs: 20 })
  app.get('/bytes', async (_, reply) => reply.type('application/json').send(long))
  app.get('/stream', async (_, reply) =>
    reply.type('application/json').send(Readable.from(chunksOf(long, 64 * 1024))),
  )
  app.get('/short', async () => ({}))
  app.get('/events', (_, reply) => {
    reply.hijack().raw.write(' ')
  })
  app.get('/late', async () => {
    await delay(1_500)
    return {}
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, port, log }
}

function* chunksOf(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const get = async (port: number, ...paths: string[]) => {
  const socket = connect({ host: '127.0.0.1', port })
  socket.pause()
  await once(socket, 'connect')
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''))
  return socket
}

const readAll = async (socket: Awaited<ReturnType<typeof get>>, until: (bytes: number) => boolean) => {
  let bytes = 0
  for await (const chunk of socket) {
    bytes += chunk.length
    if (until(bytes)) break
  }
  return bytes
}

const cutOffs = async (app: ReturnType<typeof createApp>, reason: string) => {
  const { body } = await app.inject('/metrics')
  return Number(new RegExp(`responses_cut_off_total\\{reason="${reason}"\\} (\\d+)`).exec(body)![1])
}

describe('a caller who reads no byte of a response', () => {
  it.each(['/bytes', '/stream'])('is cut off, logged and counted: %s', async (path) => {
    const { app: started, port, log } = await startServer({ stalledMs: 100, windowMs: never, minBytes: 1 })
    await using app = started
    const before = await cutOffs(app, 'stalled')
    const logged = log.line('the response was cut off')
    const socket = await get(port, path)

    await logged

    // Only what the kernel has buffered.
    expect(await readAll(socket, () => false).catch(() => 0)).toBeLessThan(long.length)
    expect(await cutOffs(app, 'stalled')).toBe(before + 1)
    expect(log.lines.filter(({ msg }) => msg.includes('cut off'))).toHaveLength(1)
  })
})

describe('a caller who reads a response slowly', () => {
  it.each(['/bytes', '/stream'])('is cut off below the minimum rate: %s', async (path) => {
    const {
      app: started,
      port,
      log,
    } = await startServer({
      stalledMs: never,
      windowMs: 200,
      minBytes: 16 * mib,
    })
    await using app = started
    const before = await cutOffs(app, 'slow')
    const logged = log.line('the response was cut off')
    const socket = await get(port, path)

    await logged

    expect(await cutOffs(app, 'slow')).toBe(before + 1)
    socket.destroy()
  })

  it.concurrent.each(['/bytes', '/stream'])('is served above the minimum rate: %s', async (path) => {
    const { app: started, port } = await startServer({ stalledMs: 3_000, windowMs: 3_000, minBytes: 1 })
    await using _app = started
    const socket = await get(port, path)

    let bytes = 0
    for await (const chunk of socket) {
      bytes += chunk.length
      // More than twice the limits in total, and a small part of them each time.
      await delay(chunk.length / (2 * 1024))
      if (bytes >= long.length) break
    }

    expect(bytes).toBeGreaterThanOrEqual(long.length)
  })
})

describe('a caller of an event stream', () => {
  it('is cut off if it sends another request on the connection, whose response would wait', async () => {
    const { app: started, port } = await startServer({ stalledMs: 200, windowMs: 100, minBytes: 2 })
    await using _app = started
    const [quiet, pipelining] = [await get(port, '/short', '/events'), await get(port, '/events', '/short')]

    quiet.resume()
    await once(pipelining.resume(), 'close')

    expect(quiet.destroyed).toBe(false)
    quiet.destroy()
  })
})

describe('a connection whose response was read late', () => {
  it('serves the next requests, a slow one included', async () => {
    const { app: started, port } = await startServer({ stalledMs: 1_000, windowMs: never, minBytes: 1 })
    await using _app = started
    const socket = await get(port, '/bytes', '/late', '/short')
    await delay(100)

    let text = ''
    for await (const chunk of socket) {
      text = (text + chunk).slice(-2_000)
      if (text.match(/\{\}/g)?.length === 2) break
    }

    expect(text.match(/\{\}/g)).toHaveLength(2)
  })
})
