import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { PublishForm } from '@fms/contracts'
import { AckPolicy, RetentionPolicy } from '@nats-io/jetstream'
import { nanos, type Status } from 'nats'
import { describe, expect, it } from 'vitest'
import {
  commandFor,
  givenForm,
  isReady,
  type Publisher,
  type Publishing,
  revisionsOf,
  type StoreCall,
  startPublishing,
  waitFor,
} from './testing.ts'

describe('two publishers on one NATS and one store', () => {
  it('share the work, and publish each command once', async () => {
    await using publishing = await startPublishing()
    const publishers = [await publishing.publisher(), await publishing.publisher()]
    const forms = await givenForms(publishing, 20)

    const commands = forms.flatMap((form) => Array.from({ length: 5 }, () => commandFor(form)))
    const sent = await Promise.all(commands.map((command) => publishing.send(command)))
    await Promise.all(sent.map(({ reply }) => reply))

    await expectEachPublishedOnce(publishing, commands)
    await publishing.idle()
    for (const { handled } of publishers) expect(handled.published).toBeGreaterThan(0)
    expect(publishing.replies.every(({ outcome }) => outcome === 'published')).toBe(true)
    for (const form of forms) {
      const { numbers, live } = await revisionsOf(publishing.forms, form)
      expect(numbers).toHaveLength(5)
      expect(live).toEqual([numbers[0]])
    }
  })

  it('one of which stops: it completes its commands in flight, and the other handles the rest', async () => {
    await using publishing = await startPublishing()
    const gate = gateAfterPublish(16)
    const stopping = await publishing.publisher({ around: gate.around })
    const forms = await givenForms(publishing, 60)
    const [early, late] = [forms.slice(0, 30), forms.slice(30)].map((some) =>
      some.map((form) => commandFor(form)),
    ) as [PublishForm[], PublishForm[]]
    const sentEarly = await Promise.all(early.map((command) => publishing.send(command)))
    await gate.reached
    const other = await publishing.publisher()

    const closed = stopping.app.close()
    const sentLate = await Promise.all(late.map((command) => publishing.send(command)))
    await Promise.all(sentLate.map(({ reply }) => reply))
    expect(stopping.handled).toEqual({})
    expect(other.handled.published).toBeGreaterThanOrEqual(30)
    gate.open()
    await closed

    expect(stopping.handled).toEqual({ published: 30 })
    await Promise.all(sentEarly.map(({ reply }) => reply))
    await expectEachPublishedOnce(publishing, [...early, ...late])
  })

  it('one of which dies: the other completes its command', async () => {
    await using publishing = await startPublishing()
    const gate = gateAfterPublish(1)
    const dying = await publishing.publisher({ around: gate.around })
    const [form] = await givenForms(publishing, 1)
    const command = commandFor(form!)

    const { reply } = await publishing.send(command)
    await gate.reached
    await dying.nats.close()
    const other = await publishing.publisher()

    expect(await reply).toMatchObject({ outcome: 'published' })
    expect(other.handled).toEqual({ published: 1 })
    await expectEachPublishedOnce(publishing, [command])
    gate.open()
  })
})

describe('a publisher with many commands of one user', () => {
  it('takes that of a newcomer next', async () => {
    await using publishing = await startPublishing()
    const order: string[] = []
    const blocked: (() => void)[] = []
    const publisher = await publishing.publisher({
      around: async ({ method, args, proceed }) => {
        if (method === 'publish') {
          order.push((args[0] as PublishForm).userId)
          await new Promise<void>((resolve) => blocked.push(resolve))
        }
        return proceed()
      },
    })
    const [form] = await givenForms(publishing, 1)
    const busy = randomUUID()
    const many = Array.from({ length: 30 }, () => commandFor(form!, { userId: busy }))
    const sent = await Promise.all(many.map((command) => publishing.send(command)))
    await expect.poll(() => order.length).toBe(16)
    const newcomer = await givenForm(publishing.forms)
    const command = commandFor(newcomer)
    sent.push(await publishing.send(command))
    const delivered = async () =>
      (await publisher.app.inject('/metrics')).body.match(/state="unacknowledged"\} 31\n/)
    await expect.poll(delivered).not.toBeNull()

    blocked.shift()!()

    await expect.poll(() => order.length).toBe(17)
    expect(order[16]).toBe(command.userId)
    const passing = setInterval(() => blocked.shift()?.(), 1)
    await Promise.all(sent.map(({ reply }) => reply))
    clearInterval(passing)
  })
})

describe('a publisher whose NATS', () => {
  it('is killed and restarts loses no acknowledged command', async () => {
    await using publishing = await startPublishing()
    const gate = gateAfterPublish(16, { letPass: 10 })
    const publisher = await publishing.publisher({ around: gate.around })
    const commands = (await givenForms(publishing, 30)).map((form) => commandFor(form))
    await Promise.all(commands.map((command) => publishing.send(command)))
    await gate.reached

    await killAndRestart(publishing, publisher, async () => gate.open())

    await publishing.idle()
    await expectEachPublishedOnce(publishing, commands)
    const [form] = await givenForms(publishing, 1)
    const { reply } = await publishing.send(commandFor(form!))
    expect(await reply).toMatchObject({ outcome: 'published' })
  })

  it('is unreachable is not ready, and is ready again after a reconnect', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    expect((await publisher.app.inject('/readyz')).statusCode).toBe(200)

    await killAndRestart(publishing, publisher, async () => {
      const response = await publisher.app.inject('/readyz')
      expect(response.statusCode).toBe(503)
      expect(response.json().error).toMatchObject({ status: 'UNAVAILABLE' })
      expect((await publisher.app.inject('/healthz')).statusCode).toBe(200)
    })

    await waitFor(() => isReady(publisher))
  })

  it('uses only the rights of its user', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const refusals: unknown[] = []
    const watch = async () => {
      for await (const status of publisher.nats.status()) {
        if (status.type === 'error') refusals.push(status.error)
      }
    }
    void watch()
    const [form] = await givenForms(publishing, 1)

    await (await publishing.send(commandFor(form!))).reply
    await publishing.send(new Uint8Array())
    await publishing.deadLetter()
    await publishing.idle()
    // The pong arrives after everything that the server sent before it.
    await publisher.nats.flush()

    expect(refusals).toEqual([])
  })
})

describe('the streams and the consumer of publish commands', () => {
  it.each([
    ['the stream', ({ manager }: Publishing) => manager.streams.delete('PUBLISH')],
    ['the consumer', ({ manager }: Publishing) => manager.consumers.delete('PUBLISH', 'publisher')],
  ])('%s is recreated after an operator has deleted it', async (_, remove) => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const [form] = await givenForms(publishing, 1)

    await remove(publishing)
    const { reply } = await waitFor(() => publishing.send(commandFor(form!)))

    expect(await reply).toMatchObject({ outcome: 'published' })
    await waitFor(() => isReady(publisher))
  })

  it('are updated if they have other settings', async () => {
    await using publishing = await startPublishing()
    const { manager } = publishing
    const retention = RetentionPolicy.Workqueue
    await manager.streams.add({ name: 'PUBLISH', subjects: ['publish.form', 'publish.other'], retention })
    await publishing.send(new Uint8Array())
    await manager.streams.add({ name: 'PUBLISH_DEAD', subjects: ['publish.dead.>'], max_age: nanos(5_000) })
    await manager.consumers.add('PUBLISH', {
      durable_name: 'publisher',
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(60_000),
    })

    await publishing.publisher()

    expect((await manager.streams.info('PUBLISH')).config).toMatchObject({
      subjects: ['publish.form', 'publish.probe'],
      max_msgs: 10_000,
      max_age: nanos(61_000),
      discard: 'new',
    })
    expect((await manager.streams.info('PUBLISH_DEAD')).config.max_age).toBe(nanos(30 * 24 * 60 * 60_000))
    expect((await manager.consumers.info('PUBLISH', 'publisher')).config).toMatchObject({
      ack_wait: nanos(2_000),
      max_ack_pending: 512,
    })
  })

  it('make the publisher not ready while NATS cannot store commands', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const { streams } = publishing.manager

    await streams.update('PUBLISH', { max_bytes: 1 })
    expect((await publisher.app.inject('/readyz')).statusCode).toBe(503)
    await streams.update('PUBLISH', { max_bytes: -1 })
    expect((await publisher.app.inject('/readyz')).statusCode).toBe(200)

    await publishing.idle()
    expect(publisher.lines).toEqual([])
  })
})

describe('a publisher', () => {
  it('is not ready while the store is unavailable', async () => {
    await using publishing = await startPublishing()
    let isUnavailable = false
    const publisher = await publishing.publisher({
      around: async ({ method, proceed }) => {
        if (method === 'ping' && isUnavailable) throw new Error('unavailable')
        return proceed()
      },
    })

    isUnavailable = true
    expect((await publisher.app.inject('/readyz')).statusCode).toBe(503)
    isUnavailable = false
    expect((await publisher.app.inject('/readyz')).statusCode).toBe(200)
  })
})

describe('a publisher that is closed', () => {
  const patienceMs = 9_000

  it('with commands in flight ends soon, and leaves commands that it has not started to others', async () => {
    await using publishing = await startPublishing()
    const slow = async ({ method, proceed }: StoreCall) => {
      if (method === 'publish') await delay(20)
      return proceed()
    }
    const publisher = await publishing.publisher({ around: slow })
    const commands = (await givenForms(publishing, 300)).map((form) => commandFor(form))
    const sent = await Promise.all(commands.map((command) => publishing.send(command)))
    await Promise.race(sent.map(({ reply }) => reply))

    await expectClosedWithin(patienceMs, publisher)
    const inHand = publisher.handled.published!
    await publishing.publisher()

    await publishing.idle()
    await expectEachPublishedOnce(publishing, commands)
    expect(inHand).toBeGreaterThan(0)
  })

  it('while NATS is unreachable ends soon', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    process.kill(publishing.server.pid, 'SIGKILL')
    await status(publisher, 'disconnect')

    await expectClosedWithin(patienceMs, publisher)
  })

  it('while NATS does not respond ends soon', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher()
    const [form] = await givenForms(publishing, 1)
    await (await publishing.send(commandFor(form!))).reply
    process.kill(publishing.server.pid, 'SIGSTOP')
    using _ = { [Symbol.dispose]: () => process.kill(publishing.server.pid, 'SIGCONT') }

    await expectClosedWithin(patienceMs, publisher)
  })

  it('before it is ready ends soon', async () => {
    await using publishing = await startPublishing()
    const publisher = await publishing.publisher({ wait: false })
    process.kill(publishing.server.pid, 'SIGSTOP')
    using _ = { [Symbol.dispose]: () => process.kill(publishing.server.pid, 'SIGCONT') }

    await expectClosedWithin(patienceMs, publisher)
  })
})

const givenForms = ({ forms }: Publishing, count: number) =>
  Promise.all(Array.from({ length: count }, () => givenForm(forms)))

const expectEachPublishedOnce = async ({ forms }: Publishing, commands: PublishForm[]) => {
  const organizationIds = new Set(commands.map(({ organizationId }) => organizationId))
  const exports = [...organizationIds].map((id) => Array.fromAsync(forms.exportForms(id)))
  const records = (await Promise.all(exports)).flat()
  const stored = records.flatMap(({ revisions }) => revisions.map(({ commandId }) => commandId))
  expect(stored.sort()).toEqual(commands.map(({ commandId }) => commandId).sort())
  for (const { revisions, live } of records) expect(live?.number).toBe(revisions.at(-1)?.number)
}

/** Holds up those whose revision is stored until it is opened; `reached` once `count` of them wait. */
const gateAfterPublish = (count: number, { letPass = 0 } = {}) => {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  let calls = 0
  return {
    reached: reached.promise,
    open: opened.resolve,
    around: async ({ method, proceed }: StoreCall) => {
      const result = await proceed()
      if (method === 'publish' && ++calls > letPass) {
        if (calls === letPass + count) reached.resolve()
        await opened.promise
      }
      return result
    },
  }
}

const status = async ({ nats }: Pick<Publisher, 'nats'>, event: Status['type']) => {
  for await (const { type } of nats.status()) if (type === event) return
}

/** Kills the server, does something, and starts it again on the same port and data. */
const killAndRestart = async (
  { server, gateway }: Publishing,
  publisher: Publisher,
  meanwhile: () => Promise<void>,
) => {
  const both = [publisher, { nats: gateway }]
  const disconnected = both.map((one) => status(one, 'disconnect'))
  process.kill(server.pid, 'SIGKILL')
  await Promise.all(disconnected)
  await meanwhile()
  const back = both.map((one) => status(one, 'reconnect'))
  await server.restart()
  await Promise.all(back)
}

const expectClosedWithin = async (ms: number, { app, nats }: Publisher) => {
  const closed = await Promise.race([app.close().then(() => true), delay(ms, false, { ref: false })])
  expect(closed).toBe(true)
  expect(nats.isClosed()).toBe(true)
}
