import { freePorts } from '@fms/testkit/ports'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createApp } from './create-app.ts'
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
})
