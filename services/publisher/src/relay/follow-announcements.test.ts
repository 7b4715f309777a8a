import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventsRecorded } from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { startNatsServer } from '@fms/testkit/nats-server'
import { expect, it, vi } from 'vitest'
import { followAnnouncements } from './follow-announcements.ts'

const patience = { timeout: 30_000, interval: 10 }

/** Changes what a user may subscribe to, in a running server. */
const allow = (configFile: string, pid: number, name: string, subject: string) => {
  const config = JSON.parse(readFileSync(configFile, 'utf8'))
  const { permissions } = config.authorization.users.find(({ user }: { user: string }) => user === name)
  permissions.subscribe.allow.push(subject)
  writeFileSync(configFile, JSON.stringify(config))
  process.kill(pid, 'SIGHUP')
}

it('subscribes once NATS allows it, and takes no denial for an announcement', async () => {
  await using cleanup = new AsyncDisposableStack()
  const { path } = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'announcements-')))
  const server = cleanup.use(await startNatsServer({ dataDir: path }))
  const connect = async (user: 'forms' | 'replies') => {
    const nats = await connectNats(server.urls[user], user)
    cleanup.defer(() => nats.close())
    return nats
  }
  const [nats, forms] = [await connect('replies'), await connect('forms')]
  const errors: Error[] = []
  let announced = 0
  cleanup.defer(
    followAnnouncements({ nats, onRecorded: () => announced++, onError: (error) => errors.push(error) }),
  )
  await vi.waitUntil(() => errors.length > 0, patience)
  expect(announced).toBe(0)

  allow(join(path, 'nats/nats-server.conf'), server.pid, 'replies', EventsRecorded.subject)

  await vi.waitUntil(() => {
    forms.publish(EventsRecorded.subject, EventsRecorded.encode({}))
    return announced > 0
  }, patience)
})
