import { mkdir, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNats } from '@fms/service-kit'
import { connect, Events } from 'nats'
import { describe, expect, it } from 'vitest'
import { findNatsServer, startNatsServer } from './nats-server.ts'

describe('findNatsServer', () => {
  it('names the version and where it is from', () => {
    expect(findNatsServer()).toMatchObject({
      version: expect.stringMatching(/^v2\./),
      source: expect.any(String),
    })
  })
})

describe('startNatsServer', () => {
  it('keeps acknowledged messages when it is killed, and comes back on the port it is given', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using publisher = await client(server.urls.publisher)
    await using gateway = await client(server.urls.gateway)
    const manager = await publisher.nats.jetstreamManager()
    await manager.streams.add({ name: 'PUBLISH', subjects: ['publish.form'] })
    await gateway.nats.jetstream().publish('publish.form', 'before')

    process.kill(server.pid, 'SIGKILL')
    await publisher.status(Events.Disconnect)
    await using again = await startNatsServer({ dataDir: folder.path, port: server.port })

    expect(again.urls).toEqual(server.urls)
    await publisher.status(Events.Reconnect)
    expect((await manager.streams.info('PUBLISH')).state.messages).toBe(1)
  })

  it('takes over from one that was left behind', async () => {
    await using folder = await dataDir()
    await using forgotten = await startNatsServer({ dataDir: folder.path })
    await using server = await startNatsServer({ dataDir: folder.path })

    expect(() => process.kill(forgotten.pid, 0)).toThrow('ESRCH')
    await using _ = await client(server.urls.gateway)
  })

  it('keeps its passwords to itself', async () => {
    await using folder = await dataDir()
    await using _ = await startNatsServer({ dataDir: folder.path })

    for (const file of ['passwords.json', 'nats-server.conf']) {
      expect((await stat(join(folder.path, 'nats', file))).mode & 0o777).toBe(0o600)
    }
  })

  it('refuses a port that another program has', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using other = await dataDir()

    await expect(startNatsServer({ dataDir: other.path, port: server.port })).rejects.toThrow('EADDRINUSE')
  })

  it('says where to look when it cannot start', async () => {
    await using folder = await dataDir()
    await mkdir(join(folder.path, 'nats'))
    await writeFile(join(folder.path, 'nats/jetstream'), 'not a folder')

    const log = join(folder.path, 'nats/log')
    await expect(startNatsServer({ dataDir: folder.path })).rejects.toThrow(log)
    expect(await readFile(log, 'utf8')).toContain('JetStream')
  })
})

describe('NATS users', () => {
  it('are the only ones who come in', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })

    await expect(connect({ servers: `127.0.0.1:${server.port}` })).rejects.toThrow('Authorization Violation')
  })

  it.each([
    ['gateway', 'subscribe', 'publish.form'],
    ['gateway', 'subscribe', '_INBOX.publisher.>'],
    ['gateway', 'publish', '$JS.API.STREAM.NAMES'],
    ['publisher', 'publish', 'publish.form'],
    ['forms', 'publish', 'publish.form'],
    ['forms', 'subscribe', '_INBOX.gateway.>'],
    ['replies', 'publish', 'publish.form'],
    ['replies', 'publish', '$JS.API.STREAM.NAMES'],
  ] as const)('%s may not %s %s', async (user, operation, subject) => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using stranger = await client(server.urls[user])

    if (operation === 'publish') stranger.nats.publish(subject)
    else stranger.nats.subscribe(subject, { callback: () => {} })

    expect(await stranger.status(Events.Error)).toMatchObject({ permissionContext: { subject } })
  })
})

const dataDir = () => mkdtempDisposable(join(tmpdir(), 'nats-server-'))

/** A client whose status events can be waited for, one by one. */
async function client(url: string) {
  const nats = await connectNats(url, 'test')
  const events = nats.status()[Symbol.asyncIterator]()
  return {
    nats,
    async status(type: Events) {
      for (;;) {
        const { value } = await events.next()
        if (value?.type === type) return value
      }
    },
    [Symbol.asyncDispose]: () => nats.close(),
  }
}
