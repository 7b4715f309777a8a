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

it('announces events while NATS is connected, those of the same moment together', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'wake-relays-'))
  await using server = await startNatsServer({ dataDir: folder.path })
  await using nats = await connected(server.urls.forms)
  let announced = 0
  await using publisher = await connected(server.urls.publisher)
  publisher.connection.subscribe(EventsRecorded.subject, {
    callback: () => {
      announced++
    },
  })
  await publisher.connection.flush()
  const connecting = Promise.withResolvers<typeof nats.connection>()
  const wakeRelays = createRelayWaker(connecting.promise)
  connecting.resolve(nats.connection)
  await connecting.promise

  for (let changes = 0; changes < 50; changes++) wakeRelays()
  await vi.waitUntil(() => announced === 2, patience)

  const lost = nats.next('disconnect')
  const restored = nats.next('reconnect')
  await server.stop()
  await lost
  wakeRelays()
  await server.restart()
  await restored
  await vi.waitUntil(() => {
    wakeRelays()
    return announced > 2
  }, patience)
  await nats.connection.close()
  wakeRelays()
})

it('does nothing if the service stops before it is connected', async () => {
  const stop = new AbortController()
  const connecting = connectNats('nats://forms:secret@127.0.0.1:1', 'forms', { signal: stop.signal })
  const wakeRelays = createRelayWaker(connecting)
  const rejected = expect(connecting).rejects.toThrow('aborted')

  stop.abort()

  await rejected
  wakeRelays()
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
