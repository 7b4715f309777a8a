import { mkdir, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNats } from '@fms/service-kit'
import { connect, Events } from 'nats'
import { describe, expect, it } from 'vitest'
import { findNatsServer, startNatsServer } from './nats-server.ts'
import { type NatsUser, natsUsers } from './nats-users.ts'

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

  it('may do what is on their lists, and nothing else that somebody else may do', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })

    const allowed = await Promise.all(
      users.map(async (user) => {
        const denied = await deniedTo(server.urls[user])
        return [user, everything.filter((what) => !denied.has(what))] as const
      }),
    )

    expect(Object.fromEntries(allowed)).toEqual({
      gateway: [
        'publish publish.form',
        'subscribe _INBOX.gateway.x',
        // Its clock, when a publisher requests it.
        'publish _INBOX.publisher.x',
      ],
      publisher: [
        'publish publish.dead.form',
        'publish _INBOX.gateway.x',
        'subscribe _INBOX.publisher.x',
        'publish $JS.API.INFO',
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.PUBLISH`),
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.PUBLISH_DEAD`),
        ...consumerVerbs.map((verb) => `publish $JS.API.CONSUMER.${verb}.PUBLISH.publisher`),
        'publish $JS.ACK.PUBLISH.publisher.1.1.1.1.1',
      ],
      forms: [
        'subscribe _INBOX.forms.x',
        'publish $JS.API.INFO',
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.REPLIES`),
        ...consumerVerbs.map((verb) => `publish $JS.API.CONSUMER.${verb}.REPLIES.reply-counter`),
        'publish $JS.ACK.REPLIES.reply-counter.1.1.1.1.1',
      ],
      replies: ['publish forms.reply-recorded', 'subscribe _INBOX.replies.x'],
      operator: [
        'subscribe _INBOX.operator.x',
        ...everything.filter((what) => what.startsWith('publish $JS.API.')),
      ],
    })
  })

  it('cannot take the commands of others along: forms deletes no stream but its operator does', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using operator = await client(server.urls.operator)
    const manager = await operator.nats.jetstreamManager()
    await manager.streams.add({ name: 'PUBLISH', subjects: ['publish.form'] })
    await using forms = await client(server.urls.forms)

    const subject = '$JS.API.STREAM.DELETE.PUBLISH'
    forms.nats.publish(subject)
    expect(await forms.status(Events.Error)).toMatchObject({ permissionContext: { subject } })
    expect((await manager.streams.info('PUBLISH')).config.name).toBe('PUBLISH')

    expect(await manager.streams.delete('PUBLISH')).toBe(true)
  })

  it('that came with a later version get a password beside those that were kept', async () => {
    await using folder = await dataDir()
    const file = join(folder.path, 'nats/passwords.json')
    await mkdir(join(folder.path, 'nats'))
    await writeFile(file, JSON.stringify({ gateway: 'kept' }))

    await using server = await startNatsServer({ dataDir: folder.path })

    expect(server.urls.gateway).toContain('gateway:kept@')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      gateway: 'kept',
      operator: expect.stringMatching(/^[\w-]{43}$/),
    })
    await using _ = await client(server.urls.operator)
  })
})

const users = Object.keys(natsUsers) as NatsUser[]

const consumerVerbs = ['INFO', 'CREATE', 'DURABLE.CREATE', 'MSG.NEXT']

const consumers = [
  ['PUBLISH', 'publisher'],
  ['PUBLISH', 'other'],
  ['PUBLISH_DEAD', 'other'],
  ['REPLIES', 'reply-counter'],
  ['REPLIES', 'other'],
]

/** What a user could try: each subject of ours, each inbox, and each right of JetStream on each stream. */
const everything = [
  ...['publish.form', 'publish.dead.form', 'forms.reply-recorded', 'any', '$SYS.REQ.SERVER.PING'].flatMap(
    both,
  ),
  ...users.map((user) => `_INBOX.${user}.x`).flatMap(both),
  ...['>', '*', '_INBOX.>', '$JS.>'].map((subject) => `subscribe ${subject}`),
  ...['INFO', 'STREAM.NAMES', 'STREAM.LIST'].map((verb) => `publish $JS.API.${verb}`),
  ...['PUBLISH', 'PUBLISH_DEAD', 'REPLIES', 'OTHER'].flatMap((stream) =>
    ['INFO', 'CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.GET', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE'].map(
      (verb) => `publish $JS.API.STREAM.${verb}.${stream}`,
    ),
  ),
  ...consumers.flatMap(([stream, consumer]) => [
    ...[...consumerVerbs, 'DELETE', 'PAUSE'].map(
      (verb) => `publish $JS.API.CONSUMER.${verb}.${stream}.${consumer}`,
    ),
    `publish $JS.ACK.${stream}.${consumer}.1.1.1.1.1`,
  ]),
]

function both(subject: string): string[] {
  return [`publish ${subject}`, `subscribe ${subject}`]
}

/** What of `everything` the server refuses to the user of this URL. */
async function deniedTo(url: string): Promise<Set<string>> {
  await using user = await client(url)
  for (const what of [...everything, `publish ${nobodys}`]) {
    const [operation, subject] = what.split(' ') as [string, string]
    if (operation === 'publish') user.nats.publish(subject)
    else user.nats.subscribe(subject, { callback: () => {} })
  }
  const denied = new Set<string>()
  for (;;) {
    const { operation, subject } = (await user.status(Events.Error)).permissionContext!
    if (subject === nobodys) return denied
    denied.add(`${operation === 'publish' ? 'publish' : 'subscribe'} ${subject}`)
  }
}

/** A subject that is refused to all, so that its refusal is the last one. */
const nobodys = 'nobodys'

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
