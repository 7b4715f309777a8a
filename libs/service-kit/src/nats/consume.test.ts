import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startNatsServer } from '@fms/testkit/nats-server'
import { AckPolicy, type Consumer, type JsMsg, nanos, RetentionPolicy } from 'nats'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { connectNats } from './connect-nats.ts'
import { consume, ensureConsumer, ensureStream } from './consume.ts'

const logger = pino({ level: 'silent' })
const stream = 'PUBLISH'
const subject = 'publish.form'
const consumer = 'publisher'
const options = { ackWaitMs: 600_000 }

/** A stream, both ends of it, and an ack wait far beyond the test's patience. */
const start = async () => {
  await using cleanup = new AsyncDisposableStack()
  const folder = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'consume-')))
  const server = cleanup.use(await startNatsServer({ dataDir: folder.path }))
  const sender = await connectNats(server.urls.gateway, 'sender')
  cleanup.defer(() => sender.close())
  const nats = await connectNats(server.urls.publisher, 'receiver')
  cleanup.defer(() => nats.close())
  const manager = await nats.jetstreamManager()
  const rest = cleanup.move()
  return {
    manager,
    send: (text: string) => sender.jetstream().publish(subject, text),
    ensure: async (ackWaitMs = 600_000): Promise<Consumer> => {
      await ensureStream(manager, { name: stream, subjects: [subject], retention: RetentionPolicy.Workqueue })
      await ensureConsumer(manager, stream, {
        durable_name: consumer,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
      })
      return nats.jetstream().consumers.get(stream, consumer)
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  }
}

/** Handles messages only once it may, and remembers which it was given. */
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
  it('has 64 messages under way at once, and all of them in the end', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 200)
    const gate = gated()

    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await vi.waitUntil(() => gate.given.length >= 64)
    await deliveredInAll(queue, 65)
    expect(gate.given).toHaveLength(64)

    gate.open()
    await vi.waitUntil(() => gate.given.length === 200)
    await consumption.stop()
    expect(new Set(gate.given).size).toBe(200)
  })

  it('when it stops finishes what it has begun, and gives the rest to others at once', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 70)
    const gate = gated()
    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await deliveredInAll(queue, 70)
    expect(gate.given).toHaveLength(64)

    const stopped = consumption.stop()
    const other = gated()
    other.open()
    const otherConsumption = consume(queue.ensure, other.handle, logger, options)
    gate.open()
    await stopped
    await vi.waitUntil(() => other.given.length === 6, { timeout: 5_000 })
    await otherConsumption.stop()

    expect(gate.given).toHaveLength(64)
    expect(new Set([...gate.given, ...other.given]).size).toBe(70)
  })

  it('when it stops loses none that is on its way to it', async () => {
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
      await vi.waitUntil(() => seen.size > before + 50, { interval: 1 })
      await consumption.stop()
    }
    sending = false
    await senders
    await using _ = stopping(consume(queue.ensure, handle, logger, options))

    await vi.waitUntil(() => seen.size === sent, { timeout: 10_000 })
  })

  it('when it stops waits for those in hand', async () => {
    await using queue = await start()
    await queue.ensure()
    await sendAll(queue, 3)
    const gate = gated()
    const consumption = consume(queue.ensure, gate.handle, logger, options)
    await vi.waitUntil(() => gate.given.length === 3)

    const stopped = vi.fn()
    const stopping = consumption.stop().then(stopped)
    // A round trip to the server, which a stop that does not wait would have overtaken.
    await queue.manager.streams.info(stream)
    expect(stopped).not.toHaveBeenCalled()
    gate.open()
    await stopping
  })

  it('keeps a message in hand from redelivery, however long it takes', async () => {
    await using queue = await start()
    const ackWaitMs = 200
    await queue.ensure(ackWaitMs)
    await queue.send('slow')
    const gate = gated()
    await using _ = stopping(consume(() => queue.ensure(ackWaitMs), gate.handle, logger, { ackWaitMs }))
    await vi.waitUntil(() => gate.given.length === 1)

    // Several ack waits pass.
    await delay(5 * ackWaitMs)
    gate.open()

    await vi.waitUntil(async () => (await queue.manager.streams.info(stream)).state.messages === 0)
    expect(gate.given).toEqual(['slow'])
    expect((await queue.manager.consumers.info(stream, consumer)).num_redelivered).toBe(0)
  })

  it('goes on after a message that could not be handled', async () => {
    await using queue = await start()
    const handled: string[] = []
    const handle = async (message: JsMsg) => {
      if (message.string() === 'ill') throw new Error('a defect')
      handled.push(message.string())
      message.ack()
    }
    await queue.ensure()
    await using _ = stopping(consume(queue.ensure, handle, logger, options))

    await queue.send('ill')
    await queue.send('well')

    await vi.waitUntil(() => handled.includes('well'))
  })

  it('tries again when it cannot get its consumer, and is active from then on', async () => {
    await using queue = await start()
    let tries = 0
    const ensure = async () => {
      if (++tries < 3) throw new Error('away')
      return queue.ensure()
    }
    const gate = gated()
    gate.open()

    const consumption = consume(ensure, gate.handle, logger, options)
    await using _ = stopping(consumption)
    expect(consumption.active).toBe(false)
    await vi.waitUntil(() => consumption.active, { timeout: 5_000 })
    await queue.send('first')

    await vi.waitUntil(() => gate.given.length === 1)
  })

  it.each([
    ['that never comes', () => new Promise<never>(() => {})],
    [
      'that cannot be had',
      async () => {
        throw new Error('away')
      },
    ],
  ])('stops at once while it asks for a consumer %s, and asks no more', async (_, ask) => {
    const ensure = vi.fn<() => Promise<never>>(ask)
    const consumption = consume(ensure, async () => {}, logger, options)

    await consumption.stop()

    // Longer than between two tries.
    await delay(600)
    expect(ensure).toHaveBeenCalledTimes(1)
  })
})

const stopping = (consumption: ReturnType<typeof consume>) => ({
  [Symbol.asyncDispose]: () => consumption.stop(),
})

/** Resolves once the server has handed out `count` messages. */
const deliveredInAll = ({ manager }: Awaited<ReturnType<typeof start>>, count: number) =>
  vi.waitUntil(
    async () => (await manager.consumers.info(stream, consumer)).delivered.consumer_seq >= count,
    5_000,
  )
