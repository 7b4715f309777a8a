import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { watchNatsDisk } from './watch-nats-disk.ts'

/** A server that sends these responses of nats-server 2.14 to /healthz in order, then repeats the last one. */
const startHealth = async (...responses: [status: number, body: string][]) => {
  let requests = 0
  const server = createServer((_, response) => {
    const [status, body] = responses[Math.min(requests++, responses.length - 1)]!
    response.writeHead(status).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`,
    requests: () => requests,
    [Symbol.dispose]: () => void server.close(),
  }
}

const ok: [number, string] = [200, '{"status":"ok"}']
const writeError: [number, string] = [
  503,
  String.raw`{"status":"unavailable","error":"JetStream stream '$G \u003e PUBLISH' write error: write 1.blk: no space left on device"}`,
]
const starting: [number, string] = [503, '{"status":"unavailable","error":"JetStream is not current"}']

describe('watchNatsDisk', () => {
  it('restarts nats-server after a failed write once the disk has space', async () => {
    using health = await startHealth(ok, writeError)
    const restart = vi.fn()

    const stop = watchNatsDisk({ healthUrl: health.url, folder: tmpdir(), restart })
    await vi.waitUntil(() => restart.mock.calls.length > 0, 10_000)
    stop()

    expect(health.requests()).toBe(2)
  })

  // statfs reports no free space for /proc, and fails for a folder of a lost volume.
  it.each(['/proc', '/lost'])(
    'does not restart nats-server while it is healthy, starting, or its disk is full: %s',
    async (folder) => {
      using health = await startHealth(ok, starting, writeError)
      const restart = vi.fn()

      const stop = watchNatsDisk({ healthUrl: health.url, folder, restart })
      await vi.waitUntil(() => health.requests() >= 4, 10_000)
      stop()

      expect(restart).not.toHaveBeenCalled()
    },
  )
})
