import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startNatsServer } from '@fms/testkit/nats-server'
import {
  AckPolicy,
  type Consumer,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
} from '@nats-io/jetstream'
import { nanos } from 'nats'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { connectNats } from './connect-nats.ts'
import { consume, ensureConsumer, ensureStream } from './consume.ts'

const logger = pino({ level: 'silent' })
const stream = 'PUBLISH'
const subject = 'publish.form'
const consumer = 'publisher'
const options = { ackWaitMs: 600_000 }

/** A stream with a sender and a consumer, whose ack wait is longer than any test. */
const start = async () => {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'consume-')))
  const server = cleanup.use(await startNatsServer({ dataDir: folder.path }))
  const sender = await connectNats(server.urls.gateway, 'sender')
  cleanup.defer(() => sender.close())
  const nats = await connectNats(server.urls.publisher, 'receiver')
  cleanup.defer(() => nats.close())
  const manager = await jetstreamManager(nats)
  const rest = cleanup.move()
  return {
    manager,
    send: (text: string) => jetstream(sender).publish(subject, text),
    ensure: async (ackWaitMs = 600_000): Promise<Consumer> => {
      await ensureStream(manager, { name: stream, subjects: [subject], retention: RetentionPolicy.Workqueue })
      await ensureConsumer(manager, stream, {
        durable_name: consumer,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
      })
      return jetstream(nats).consumers.get(stream, consumer)
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

/** A handler that records messages, and acks them once it is opened. */
const gated = () => {
  const opened = Promise.withResolvers<void>()
  const given: string[] = []
  return {
    given,
    open: opened.resolve,
    handle: async (message: JsMsg) => {
      given.push(message.string())
      await opened.promise
      message.ack()
    },
  }
}

const sendAll = ({ send }: Awaited<ReturnType<typeof start>>, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(`${index}`)))

describe('consume', () => {
  it('has at most 64 messages in flight, and handles all in the end', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 200)
    const gate = gated()

    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await vi.waitUntil(() => gate.given.length >= 64, { timeout: 10_000 })
    await waitForDeliveries(queue, 65)
    expect(gate.given).toHaveLength(64)

    gate.open()
    await vi.waitUntil(() => gate.given.length === 200, { timeout: 10_000 })
    await consumption.stop()
    expect(new Set(gate.given).size).toBe(200)
  })

  it('finishes the messages in flight when it stops, and gives the rest to others immediately', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 70)
    const gate = gated()
    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await waitForDeliveries(queue, 70)
    expect(gate.given).toHaveLength(64)

    const stopped = consumption.stop()
    const other = gated()
    other.open()
    const otherConsumption = consume(queue.ensure, other.handle, logger, options)
    gate.open()
    await stopped
    await vi.waitUntil(() => other.given.length === 6, { timeout: 30_000 })
    await otherConsumption.stop()

    expect(gate.given).toHaveLength(64)
    expect(new Set([...gate.given, ...other.given]).size).toBe(70)
  })

  it('loses no message that arrives while it stops', async () => {
    await using queue = await start()
    await queue.ensure()
    const seen = new Set<string>()
    const handle = async (message: JsMsg) => {
      seen.add(message.string())
      message.ack()
    }
    let sent = 0
    let sending = true
    const sendOn = async () => {
      while (sending) await queue.send(`${sent++}`)
    }
    const senders = Promise.all(Array.from({ length: 32 }, sendOn))

    for (let stops = 0; stops < 10; stops++) {
      const consumption = consume(queue.ensure, handle, logger, options)
      const before = seen.size
      await vi.waitUntil(() => seen.size > before + 50, { interval: 1, timeout: 10_000 })
      await consumption.stop()
    }
    sending = false
    await senders
    await using _ = stopping(consume(queue.ensure, handle, logger, options))

    await vi.waitUntil(() => seen.size === sent, { timeout: 10_000 })
  })

  it('waits for the messages in flight when it stops', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 3)
    const gate = gated()
    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await vi.waitUntil(() => gate.given.length === 3, { timeout: 10_000 })

    const stopped = vi.fn()
    const stopping = consumption.stop().then(stopped)
    // A stop that does not wait would resolve during a round trip to the server.
    await queue.manager.streams.info(stream)
    expect(stopped).not.toHaveBeenCalled()
    gate.open()
    await stopping
  })

  it('prevents the redelivery of a message in flight, however long it takes', async () => {
    await using queue = await start()
    // A busy machine delays the message that prolongs the wait.
    const ackWaitMs = 1_500
    await queue.ensure(ackWaitMs)
    await queue.send('slow')
    const gate = gated()
    await using _ = stopping(consume(() => queue.ensure(ackWaitMs), gate.handle, logger, { ackWaitMs }))
    await vi.waitUntil(() => gate.given.length === 1, { timeout: 10_000 })

    await delay(2 * ackWaitMs)
    gate.open()

    await vi.waitUntil(async () => (await queue.manager.streams.info(stream)).state.messages === 0, {
      timeout: 10_000,
    })
    expect(gate.given).toEqual(['slow'])
    expect((await queue.manager.consumers.info(stream, consumer)).num_redelivered).toBe(0)
  })

  it('continues after a message that could not be handled', async () => {
    await using queue = await start()
    const handled: string[] = []
    const handle = async (message: JsMsg) => {
      if (message.string() === 'bad') throw new Error('a defect')
      handled.push(message.string())
      message.ack()
    }
    await queue.ensure()
    await using _ = stopping(consume(queue.ensure, handle, logger, options))

    await queue.send('bad')
    await queue.send('good')

    await vi.waitUntil(() => handled.includes('good'), { timeout: 10_000 })
  })

  it('retries until it has its consumer, is active then, and logs one line for each cause', async () => {
    await using queue = await start()
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
    let attempts = 0
    const ensure = async () => {
      if (++attempts < 4) throw new Error(attempts < 3 ? 'unreachable' : 'no space left')
      return queue.ensure()
    }
    const gate = gated()
    gate.open()

    const consumption = consume(ensure, gate.handle, logger, options)
    await using _ = stopping(consumption)
    expect(consumption.active).toBe(false)
    await vi.waitUntil(() => consumption.active, { timeout: 30_000 })
    await queue.send('first')

    await vi.waitUntil(() => gate.given.length === 1, { timeout: 10_000 })
    expect(lines.map((line) => [JSON.parse(line).msg, JSON.parse(line).err?.message])).toEqual([
      ['cannot consume messages: retrying', 'unreachable'],
      ['cannot consume messages: retrying', 'no space left'],
      ['messages are consumed again', undefined],
    ])
  })

  it.each([
    ['that never arrives', () => new Promise<never>(() => {})],
    [
      'that fails',
      async () => {
        throw new Error('unreachable')
      },
    ],
  ])('stops immediately during a request for its consumer %s, and does not retry', async (_, request) => {
    const ensure = vi.fn<() => Promise<never>>(request)
    const consumption = consume(ensure, async () => {}, logger, options)

    await consumption.stop()

    // Longer than the pause between two attempts.
    await delay(600)
    expect(ensure).toHaveBeenCalledTimes(1)
  })
})

const stopping = (consumption: ReturnType<typeof consume>) => ({
  [Symbol.asyncDispose]: () => consumption.stop(),
})

/** Resolves once the server has delivered `count` messages. */
const waitForDeliveries = ({ manager }: Awaited<ReturnType<typeof start>>, count: number) =>
  vi.waitUntil(
    async () => (await manager.consumers.info(stream, consumer)).delivered.consumer_seq >= count,
    5_000,
  )
