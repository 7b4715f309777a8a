import { mkdir, mkdtempDisposable, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectNats } from '@fms/service-kit'
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, errors, type Status } from 'nats'
import { describe, expect, it } from 'vitest'
import { findNatsServer, startNatsServer } from './nats-server.ts'
import { type NatsUser, natsUsers } from './nats-users.ts'

describe('findNatsServer', () => {
  it('finds a server and reports its version and source', () => {
    expect(findNatsServer()).toMatchObject({
      version: expect.stringMatching(/^v2\./),
      source: expect.any(String),
    })
  })
})

describe('startNatsServer', () => {
  it('keeps acknowledged messages after kill -9, and restarts on the given port', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using publisher = await client(server.urls.publisher)
    await using gateway = await client(server.urls.gateway)
    const manager = await jetstreamManager(publisher.nats)
    await manager.streams.add({ name: 'PUBLISH', subjects: ['publish.form'] })
    await jetstream(gateway.nats).publish('publish.form', 'before')

    process.kill(server.pid, 'SIGKILL')
    await publisher.status('disconnect')
    const { urls, pid } = server
    await server.restart()

    expect(server.urls).toEqual(urls)
    expect(server.pid).not.toBe(pid)
    await publisher.status('reconnect')
    expect((await manager.streams.info('PUBLISH')).state.messages).toBe(1)
  })

  it('kills a server that an earlier start left running', async () => {
    await using folder = await dataDir()
    await using leftover = await startNatsServer({ dataDir: folder.path })
    await using server = await startNatsServer({ dataDir: folder.path })

    expect(() => process.kill(leftover.pid, 0)).toThrow('ESRCH')
    await using _ = await client(server.urls.gateway)
  })

  it('lets only the owner read its passwords', async () => {
    await using folder = await dataDir()
    await using _ = await startNatsServer({ dataDir: folder.path })

    for (const file of ['passwords.json', 'nats-server.conf']) {
      expect((await stat(join(folder.path, 'nats', file))).mode & 0o777).toBe(0o600)
    }
  })

  it('rejects a port that another program listens on', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using other = await dataDir()

    await expect(startNatsServer({ dataDir: other.path, port: server.port })).rejects.toThrow('EADDRINUSE')
  })

  it('names the log file if the server cannot start', async () => {
    await using folder = await dataDir()
    await mkdir(join(folder.path, 'nats'))
    await writeFile(join(folder.path, 'nats/jetstream'), 'not a folder')

    const log = join(folder.path, 'nats/log')
    await expect(startNatsServer({ dataDir: folder.path })).rejects.toThrow(log)
    expect(await readFile(log, 'utf8')).toContain('JetStream')
  })
})

describe('NATS users', () => {
  it('are required: an anonymous client is rejected', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })

    await expect(connect({ servers: `127.0.0.1:${server.port}` })).rejects.toThrow('Authorization Violation')
  })

  it('have exactly the rights on their lists', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })

    const allowed = await Promise.all(
      users.map(async (user) => {
        const denied = await deniedTo(server.urls[user])
        return [user, operations.filter((operation) => !denied.has(operation))] as const
      }),
    )

    expect(Object.fromEntries(allowed)).toEqual({
      gateway: [
        'publish publish.form',
        'subscribe _INBOX.gateway.x',
        // The response to a publisher that requests the gateway's clock.
        'publish _INBOX.publisher.x',
      ],
      publisher: [
        'publish publish.dead.form',
        `publish ${formEvent}`,
        'subscribe events.recorded',
        'publish _INBOX.gateway.x',
        'subscribe _INBOX.publisher.x',
        'publish $JS.API.INFO',
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.PUBLISH`),
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.PUBLISH_DEAD`),
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.EVENTS`),
        ...consumerVerbs.map((verb) => `publish $JS.API.CONSUMER.${verb}.PUBLISH.publisher`),
        'publish $JS.ACK.PUBLISH.publisher.1.1.1.1.1',
      ],
      forms: [
        'publish events.recorded',
        'subscribe _INBOX.forms.x',
        'publish $JS.API.INFO',
        ...['INFO', 'CREATE', 'UPDATE'].map((verb) => `publish $JS.API.STREAM.${verb}.REPLIES`),
        ...consumerVerbs.map((verb) => `publish $JS.API.CONSUMER.${verb}.REPLIES.reply-counter`),
        'publish $JS.ACK.REPLIES.reply-counter.1.1.1.1.1',
      ],
      replies: ['publish forms.reply-recorded', 'subscribe _INBOX.replies.x'],
      events: [
        'subscribe _INBOX.events.x',
        'publish $JS.API.INFO',
        'publish $JS.API.STREAM.INFO.EVENTS',
        ...[...consumerVerbs, 'DELETE'].map((verb) => `publish $JS.API.CONSUMER.${verb}.EVENTS.reader`),
        'publish $JS.ACK.EVENTS.reader.1.1.1.1.1',
        'publish $JS.API.CONSUMER.CREATE.EVENTS',
        `publish $JS.API.CONSUMER.CREATE.EVENTS.reader.${formEvent}`,
      ],
      operator: [
        'subscribe _INBOX.operator.x',
        ...operations.filter((operation) => operation.startsWith('publish $JS.API.')),
      ],
    })
  })

  it('cannot delete streams, except for the operator', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using operator = await client(server.urls.operator)
    const manager = await jetstreamManager(operator.nats)
    await manager.streams.add({ name: 'PUBLISH', subjects: ['publish.form'] })
    await using forms = await client(server.urls.forms)

    const subject = '$JS.API.STREAM.DELETE.PUBLISH'
    forms.nats.publish(subject)
    expect(await forms.status('error')).toMatchObject({ error: { subject } })
    expect((await manager.streams.info('PUBLISH')).config.name).toBe('PUBLISH')

    expect(await manager.streams.delete('PUBLISH')).toBe(true)
  })

  it('read EVENTS as the user events, with ordered and with durable consumers', async () => {
    await using folder = await dataDir()
    await using server = await startNatsServer({ dataDir: folder.path })
    await using publisher = await client(server.urls.publisher)
    await using events = await client(server.urls.events)
    const subjects = ['events.*.form.*']
    await (await jetstreamManager(publisher.nats)).streams.add({ name: 'EVENTS', subjects })
    await jetstream(publisher.nats).publish(formEvent, 'first')
    const manager = await jetstreamManager(events.nats)
    const { consumers } = jetstream(events.nats)

    const ordered = await consumers.get('EVENTS', { filter_subjects: formEvent })
    expect((await ordered.next())?.string()).toBe('first')

    const config = { durable_name: 'mine', ack_policy: AckPolicy.Explicit, filter_subject: formEvent }
    await manager.consumers.add('EVENTS', config)
    const message = await (await consumers.get('EVENTS', 'mine')).next()
    expect(message?.string()).toBe('first')
    expect(await message!.ackAck()).toBe(true)
    expect(await manager.consumers.info('EVENTS', 'mine')).toMatchObject({ num_ack_pending: 0 })
    expect(await manager.consumers.delete('EVENTS', 'mine')).toBe(true)
  })

  it('of a later release get a password, and existing passwords stay', async () => {
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
  ['EVENTS', 'reader'],
]

const formEvent = 'events.01890000-0000-7000-8000-000000000000.form.created'

/** All operations that the test tries: our subjects, inboxes, and each right of JetStream on each stream. */
const operations = [
  ...['publish.form', 'publish.dead.form', 'forms.reply-recorded'].flatMap(both),
  ...[formEvent, 'events.recorded', 'events.any', 'any', '$SYS.REQ.SERVER.PING'].flatMap(both),
  ...users.map((user) => `_INBOX.${user}.x`).flatMap(both),
  ...['>', '*', '_INBOX.>', '$JS.>'].map((subject) => `subscribe ${subject}`),
  ...['INFO', 'STREAM.NAMES', 'STREAM.LIST'].map((verb) => `publish $JS.API.${verb}`),
  ...['PUBLISH', 'PUBLISH_DEAD', 'REPLIES', 'EVENTS', 'OTHER'].flatMap((stream) =>
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
  // Consumers without a name, and with one filter.
  ...['PUBLISH', 'EVENTS'].flatMap((stream) =>
    [stream, `${stream}.reader.${formEvent}`].map((name) => `publish $JS.API.CONSUMER.CREATE.${name}`),
  ),
]

function both(subject: string): string[] {
  return [`publish ${subject}`, `subscribe ${subject}`]
}

/** The `operations` that the server denies to the user of this URL. */
async function deniedTo(url: string): Promise<Set<string>> {
  await using user = await client(url)
  for (const each of [...operations, `publish ${deniedToAll}`]) {
    const [operation, subject] = each.split(' ') as [string, string]
    if (operation === 'publish') user.nats.publish(subject)
    else user.nats.subscribe(subject, { callback: () => {} })
  }
  const denied = new Set<string>()
  for (;;) {
    const { operation, subject } = await user.violation()
    if (subject === deniedToAll) return denied
    denied.add(`${operation === 'publish' ? 'publish' : 'subscribe'} ${subject}`)
  }
}

/** A subject that is denied to all users: its error comes after all others. */
const deniedToAll = 'denied-to-all'

const dataDir = () => mkdtempDisposable(join(tmpdir(), 'nats-server-'))

/** A client with a method that waits for the next status event of a type. */
async function client(url: string) {
  const nats = await connectNats(url, 'test')
  const events = nats.status()[Symbol.asyncIterator]()
  const status = async (type: Status['type']): Promise<Status> => {
    for (;;) {
      const { value } = await events.next()
      if (value?.type === type) return value
    }
  }
  return {
    nats,
    status,
    /** Waits for the next request that the server denies. */
    async violation() {
      const { error } = (await status('error')) as { error?: unknown }
      if (error instanceof errors.PermissionViolationError) return error
      throw new Error('No permission was violated', { cause: error })
    },
    [Symbol.asyncDispose]: () => nats.close(),
  }
}
