import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@fms/testkit/ports'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { createApp } from './create-app.ts'
import { listen } from './listen.ts'
import { serveProbes } from './probes.ts'

describe('serveProbes', () => {
  it('serves the probes and metrics, and nothing else, until the app closes', async () => {
    const app = createApp({ logger: pino({ level: 'silent' }) })
    app.get('/things', async () => ({}))
    await app.listen({ host: '127.0.0.1', port: 0 })
    const [port] = (await freePorts(1)) as [number]
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

    await serveProbes(app, port)
    const statuses = await Promise.all(
      ['/healthz', '/readyz?x=1', '/metrics?', '/things'].map(async (path) => (await get(path)).status),
    )
    await app.close()

    expect(statuses).toEqual([200, 200, 200, 404])
    await expect(get('/healthz')).rejects.toThrow()
  })

  it('serves them while a closing app with several sockets still responds to a request', async () => {
    const app = createApp({ logger: pino({ level: 'silent' }) })
    const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()]
    app.get('/held', () => {
      arrived.resolve()
      return held.promise
    })
    // Almost surely not the first of them accepts the request.
    await listen(app, { host: '127.0.0.1', port: 0, sockets: 64 })
    const { port } = app.server.address() as AddressInfo
    const [probePort] = (await freePorts(1)) as [number]
    await serveProbes(app, probePort)
    const response = fetch(`http://127.0.0.1:${port}/held`)
    await arrived.promise

    const closed = app.close()
    await vi.waitFor(() => expect(app.server.listening).toBe(false))
    await delay(50)

    expect((await fetch(`http://127.0.0.1:${probePort}/healthz`)).status).toBe(200)
    held.resolve({})
    expect((await response).status).toBe(200)
    await closed
  })
})
