import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNatsServer } from '@fms/testkit/nats-server'
import { expect, it, vi } from 'vitest'
import { connectNats, followConnection } from './connect-nats.ts'

const patience = { timeout: 30_000, interval: 10 }

it('follows a connection that is lost, restored and closed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'follow-connection-'))
  await using server = await startNatsServer({ dataDir: folder.path })
  const nats = await connectNats(server.urls.forms, 'test')
  const changes: boolean[] = []
  const connection = followConnection(nats, (isConnected) => changes.push(isConnected))
  expect(connection.isConnected).toBe(true)

  await server.stop()
  await vi.waitUntil(() => !connection.isConnected, patience)
  expect(changes).toEqual([false])

  await server.restart()
  await vi.waitUntil(() => connection.isConnected, patience)
  expect(changes).toEqual([false, true])

  await nats.close()
  expect(connection.isConnected).toBe(false)
})
