import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReplyRecorded, repliesStream, replyCounterConsumer } from '@fms/contracts'
import type { FormsStore, Replies, StoredForm } from '@fms/forms-store'
import { connectNats, consume } from '@fms/service-kit'
import { startNatsServer } from '@fms/testkit/nats-server'
import { type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { startForms } from '../testing/start-forms.ts'
import { createReplyCounter } from './count-replies.ts'
import { createReplyConsumer, ensureReplies, replyConsumption } from './reply-recorded.ts'

const logger = pino({ level: 'silent' })

/** A store, a nats-server, and a publisher of reply events. */
const startReplies = async () => {
  await using started = new AsyncDisposableStack()
  const service = started.use(await startForms())
  const folder = started.use(await mkdtempDisposable(join(tmpdir(), 'replies-')))
  const server = started.use(await startNatsServer({ dataDir: folder.path }))
  const counter = await connectNats(server.urls.forms, 'counter')
  started.defer(() => counter.close())
  const respondents = await connectNats(server.urls.replies, 'respondents')
  started.defer(() => respondents.close())
  const consumer = await ensureReplies(counter)
  const manager = await jetstreamManager(counter)

  const held = started.move()
  return {
    service,
    counter,
    consumer,
    /** Publishes an event. Resolves once it is stored. */
    publish: (bytes: Uint8Array) => jetstream(respondents).publish(ReplyRecorded.subject, bytes),
    /** The next event, as the consumer receives it. */
    next: async () => {
      const message = await consumer.next()
      if (!message) throw new Error('no event came')
      return message
    },
    /** The number of events in the stream: 0 once all are acknowledged. */
    pendingEvents: async () => (await manager.streams.info(repliesStream.name)).state.messages,
    state: () => manager.consumers.info(repliesStream.name, replyCounterConsumer),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

const eventOf = ({ organizationId, formId }: StoredForm, replyId: string = randomUUID()) =>
  ReplyRecorded.encode({ organizationId, formId, replyId })

const countOf = async ({ forms }: { forms: FormsStore }, form: StoredForm) =>
  (await forms.get({ ...form, formRef: form.formId }))?.replyCount

/** Consumes like the service until `count` events are handled. */
const handle = async (
  { service, counter }: Awaited<ReturnType<typeof startReplies>>,
  deliveries: number,
  handleOne: (message: JsMsg) => Promise<void> = createReplyConsumer(service.forms, logger),
) => {
  const handled = Promise.withResolvers<void>()
  const seen: JsMsg[] = []
  const consumption = consume(
    () => ensureReplies(counter),
    async (message) => {
      await handleOne(message)
      if (seen.push(message) === deliveries) handled.resolve()
    },
    logger,
    replyConsumption,
  )
  await handled.promise
  await consumption.stop()
  return seen
}

describe('forms.reply-recorded', () => {
  it('counts each reply, and does not change updateTime, version and draft', async () => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    const other = await replies.service.given.form()
    for (let count = 0; count < 3; count++) await replies.publish(eventOf(form))

    await handle(replies, 3)

    expect(await replies.service.forms.get({ ...form, formRef: form.formId })).toEqual({
      ...form,
      replyCount: 3,
    })
    expect(await countOf(replies.service, other)).toBe(0)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it('counts a reply once when its event is published twice', async () => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    const again = eventOf(form)
    for (const event of [again, eventOf(form), again, again]) await replies.publish(event)

    await handle(replies, 4)

    expect(await countOf(replies.service, form)).toBe(2)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it('counts a reply once when its event is redelivered after a crash', async () => {
    await using replies = await startReplies()
    const { service } = replies
    const form = await service.given.form()
    await replies.publish(eventOf(form))
    const message = await replies.next()
    const { replyId, ...ref } = ReplyRecorded.decode(message.data)
    await service.forms.recordReplies({ ...ref, replyIds: [replyId] })
    message.nak()

    const redelivered = await replies.next()
    expect(redelivered.redelivered).toBe(true)
    await createReplyConsumer(service.forms, logger)(redelivered)

    expect(await countOf(service, form)).toBe(1)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it('counts each reply once when three copies of many events go to several consumers', async () => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    const events = Array.from({ length: 50 }, () => eventOf(form))
    await Promise.all([...events, ...events, ...events].map((event) => replies.publish(event)))

    let left = 150
    const done = Promise.withResolvers<void>()
    const counters = Array.from({ length: 3 }, () => {
      const handleOne = createReplyConsumer(replies.service.forms, logger)
      return consume(
        () => ensureReplies(replies.counter),
        async (message) => {
          await handleOne(message)
          if (--left === 0) done.resolve()
        },
        logger,
        replyConsumption,
      )
    })
    await done.promise
    await Promise.all(counters.map((each) => each.stop()))

    expect(await countOf(replies.service, form)).toBe(50)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it.each([
    ['no JSON', Buffer.from('{')],
    ['no UTF-8', Buffer.of(0xff)],
    ['nothing', Buffer.of()],
    ['null', Buffer.from('null')],
    ['an id that is none', Buffer.from('{"replyId":"1","formId":"2","organizationId":"3"}')],
  ])('terminates an event of %s, and continues', async (_, bytes) => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    await replies.publish(bytes)
    await replies.publish(eventOf(form))

    const seen = await handle(replies, 2)

    expect(seen.map(({ redelivered }) => redelivered)).toEqual([false, false])
    expect(await countOf(replies.service, form)).toBe(1)
    await expect.poll(replies.pendingEvents).toBe(0)
    expect(await replies.state()).toMatchObject({ num_ack_pending: 0, num_redelivered: 0, num_pending: 0 })
  })

  it('counts an event of a later release with unknown members', async () => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    const event = JSON.parse(new TextDecoder().decode(eventOf(form)))
    await replies.publish(Buffer.from(JSON.stringify({ ...event, channel: 'voice' })))

    await handle(replies, 1)

    expect(await countOf(replies.service, form)).toBe(1)
  })

  it('acks a reply to a form that is unknown, deleted, or of another organization', async () => {
    await using replies = await startReplies()
    const { service } = replies
    const form = await service.given.form()
    const deleted = await service.given.form()
    await service.forms.delete({ ...deleted, formRef: deleted.formId }, () => {})
    await replies.publish(eventOf({ ...form, formId: randomUUID() }))
    await replies.publish(eventOf(deleted))
    await replies.publish(eventOf({ ...form, organizationId: randomUUID() }))

    await handle(replies, 3)

    expect(await countOf(service, form)).toBe(0)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it('is redelivered while the store is unavailable', async () => {
    await using replies = await startReplies()
    const { service } = replies
    const form = await service.given.form()
    const closed = await startForms()
    await closed[Symbol.asyncDispose]()
    const stores = [closed.forms, service.forms]
    await replies.publish(eventOf(form))

    const seen = await handle(replies, 2, (message) => createReplyConsumer(stores.shift()!, logger)(message))

    expect(seen.map(({ redelivered }) => redelivered)).toEqual([false, true])
    expect(await countOf(service, form)).toBe(1)
    await expect.poll(replies.pendingEvents).toBe(0)
  })

  it('is not acked after an unexpected error', async () => {
    await using replies = await startReplies()
    const broken = { recordReplies: () => Promise.reject(new Error('a defect')) } as unknown as FormsStore
    await replies.publish(eventOf(await replies.service.given.form()))

    const handleOne = createReplyConsumer(broken, logger)
    await expect(handleOne(await replies.next())).rejects.toThrow('a defect')

    expect(await replies.state()).toMatchObject({ num_ack_pending: 1 })
  })

  it('waits in the stream without a consumer, and the stream can be created again', async () => {
    await using replies = await startReplies()
    const form = await replies.service.given.form()
    await replies.publish(eventOf(form))
    await ensureReplies(replies.counter)

    expect(await replies.pendingEvents()).toBe(1)
    await handle(replies, 1)
    expect(await countOf(replies.service, form)).toBe(1)
  })

  it('is counted in one change with the other pending replies of its form', async () => {
    const changes: Replies[] = []
    const first = Promise.withResolvers<number>()
    const forms = {
      recordReplies: async (replies: Replies) => {
        changes.push(replies)
        return changes.length === 1 ? first.promise : replies.replyIds.length
      },
    } as FormsStore
    const count = createReplyCounter(forms)
    const form = { organizationId: randomUUID(), formId: randomUUID() }
    const ids = Array.from({ length: 151 }, () => randomUUID())

    const counted = ids.map((replyId) => count({ ...form, replyId }))
    const other = { ...form, formId: randomUUID() }
    await count({ ...other, replyId: ids[0]! })
    first.resolve(1)
    await Promise.all(counted)

    expect(changes).toEqual([
      { ...form, replyIds: ids.slice(0, 1) },
      { ...other, replyIds: ids.slice(0, 1) },
      { ...form, replyIds: ids.slice(1, 101) },
      { ...form, replyIds: ids.slice(101) },
    ])
    // No state remains for a form whose replies are counted.
    await count({ ...form, replyId: randomUUID() })
    expect(changes).toHaveLength(5)
  })

  it('is counted during a slow change of a form with many replies', async () => {
    await using replies = await startReplies()
    const { service } = replies
    const [busy, quiet] = [await service.given.form(), await service.given.form()]
    await Promise.all(Array.from({ length: 200 }, () => replies.publish(eventOf(busy))))
    await replies.publish(eventOf(quiet))
    const opened = Promise.withResolvers<void>()
    const forms = {
      recordReplies: async (counted: Replies) => {
        if (counted.formId === busy.formId) await opened.promise
        return service.forms.recordReplies(counted)
      },
    } as FormsStore

    const handleOne = createReplyConsumer(forms, logger)
    const consumption = consume(() => ensureReplies(replies.counter), handleOne, logger, replyConsumption)
    await expect.poll(() => countOf(service, quiet)).toBe(1)
    expect(await countOf(service, busy)).toBe(0)
    opened.resolve()

    await expect.poll(() => countOf(service, busy)).toBe(200)
    await expect.poll(replies.pendingEvents).toBe(0)
    await consumption.stop()
  })
})
