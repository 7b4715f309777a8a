import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventsRecorded } from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { startNatsServer } from '@fms/testkit/nats-server'
import { expect, it, vi } from 'vitest'
import { createRelayWaker } from './wake-relays.ts'

const patience = { timeout: 30_000, interval: 10 }

it('announces events while NATS is connected, and drops announcements otherwise', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'wake-relays-'))
  await using server = await startNatsServer({ dataDir: folder.path })
  await using nats = await connected(server.urls.forms)
  const announced: string[] = []
  const listen = async (url: string) => {
    const publisher = await connected(url)
    publisher.connection.subscribe(EventsRecorded.subject, {
      callback: (_, { data }) => {
        announced.push(EventsRecorded.decode(data).organizationId)
      },
    })
    await publisher.connection.flush()
    return publisher
  }
  await using _ = await listen(server.urls.publisher)
  const ids = Array.from({ length: 4 }, () => randomUUID())
  const connecting = Promise.withResolvers<typeof nats.connection>()
  const wakeRelays = createRelayWaker(connecting.promise)

  wakeRelays(ids[0]!)
  connecting.resolve(nats.connection)
  await connecting.promise
  wakeRelays(ids[1]!)
  await vi.waitUntil(() => announced.length === 1, patience)

  const lost = nats.next('disconnect')
  const restored = nats.next('reconnect')
  await server.stop()
  await lost
  wakeRelays(ids[2]!)
  await using _again = await startNatsServer({ dataDir: folder.path, port: server.port })
  await restored
  await vi.waitUntil(async () => {
    wakeRelays(ids[3]!)
    return announced.length > 1
  }, patience)

  expect(announced).not.toContain(ids[0])
  expect(announced).not.toContain(ids[2])
  await nats.connection.close()
  wakeRelays(ids[3]!)
})

it('does nothing if the service stops before it is connected', async () => {
  const stop = new AbortController()
  const connecting = connectNats('nats://forms:secret@127.0.0.1:1', 'forms', stop.signal)
  const wakeRelays = createRelayWaker(connecting)
  const rejected = expect(connecting).rejects.toThrow('aborted')

  stop.abort()

  await rejected
  wakeRelays(randomUUID())
})

const connected = async (url: string) => {
  const connection = await connectNats(url, 'test')
  const target = new EventTarget()
  const follow = async () => {
    for await (const { type } of connection.status()) target.dispatchEvent(new Event(type))
  }
  void follow()
  return {
    connection,
    next: (type: string) => once(target, type),
    [Symbol.asyncDispose]: () => connection.close(),
  }
}
