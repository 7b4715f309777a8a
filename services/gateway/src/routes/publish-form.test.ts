import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@fms/aip'
import {
  clockInboxOf,
  deadlineHeader,
  Form,
  FormDraft,
  FormPublished,
  GatewayClock,
  PublishForm,
  publisherConsumer,
  publishStream,
  replyInboxHeader,
  requestIdHeader,
} from '@fms/contracts'
import { connectNats } from '@fms/service-kit'
import { startNatsServer } from '@fms/testkit/nats-server'
import {
  AckPolicy,
  DiscardPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
} from '@nats-io/jetstream'
import { errors, type MsgHdrs, type NatsConnection } from 'nats'
import { describe, expect, it, vi } from 'vitest'
import { createPublisherClient } from '../publish/publisher-client.ts'
import { type GatewayTestOptions, json, reasonOf, startGateway, startLog } from '../testing.ts'

const publicId = 'Ab3dE6gH9j'
const ids = {
  commandId: randomUUID(),
  organizationId: randomUUID(),
  userId: randomUUID(),
  formRef: publicId,
}
const publish = `/v2/organizations/acme/forms/${publicId}/publish`

const form = Form.parse({
  ...FormDraft.parse({}),
  createTime: '2026-11-20T09:30:00.000Z',
  updateTime: '2026-11-20T09:30:00.000Z',
  live: true,
  path: `organizations/${randomUUID()}/forms/${randomUUID()}`,
  publicId,
  publicUrl: `https://forms.example/${publicId}`,
  replyCount: 0,
})

const published: FormPublished = { outcome: 'published', formJson: JSON.stringify(form), etag: '"3-k9Qz"' }

const rejection = new ApiError('FAILED_PRECONDITION', 'FORM_NOT_READY', 'Add a question.', {
  preconditionViolations: [{ type: 'STEPS', subject: 'steps', description: 'needs a question' }],
  metadata: { form: 'f' },
})
const refused: FormPublished = { outcome: 'refused', problem: rejection.toProblem() }

type Reply = FormPublished | 'none' | ((message: JsMsg) => FormPublished | 'none')

/** A gateway with a real NATS server, and a stub of the publisher that sends `reply`. */
const startPublishing = async (
  reply: Reply,
  { withStream = true, ...options }: GatewayTestOptions & { withStream?: boolean } = {},
) => {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await mkdtempDisposable(join(tmpdir(), 'gateway-')))
  const server = stack.use(await startNatsServer({ dataDir: folder.path }))
  const nats = await connectNats(server.urls.publisher, 'publisher')
  stack.defer(() => nats.close())
  const operator = await connectNats(server.urls.operator, 'operator')
  stack.defer(() => operator.close())
  const commands: PublishForm[] = []
  const messages: JsMsg[] = []
  const consumed = Promise.withResolvers<void>()
  if (withStream) {
    const manager = await jetstreamManager(nats)
    await manager.streams.add({
      name: publishStream.name,
      subjects: [...publishStream.subjects],
      retention: RetentionPolicy.Workqueue,
    })
    await manager.consumers.add(publishStream.name, {
      durable_name: publisherConsumer,
      ack_policy: AckPolicy.Explicit,
    })
    const consumer = await jetstream(nats).consumers.get(publishStream.name, publisherConsumer)
    await consumer.consume({
      callback: (message) => {
        message.ack()
        messages.push(message)
        commands.push(PublishForm.decode(message.data))
        consumed.resolve()
        const sent = typeof reply === 'function' ? reply(message) : reply
        if (sent !== 'none') nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(sent))
      },
    })
  }
  const log = startLog()
  const connected = log.line('connected to NATS')
  const gateway = stack.use(
    await startGateway({ natsUrl: server.urls.gateway, logger: log.logger, ...options }),
  )
  await connected
  const resources = stack.move()
  return {
    ...gateway,
    server,
    nats,
    manager: await jetstreamManager(operator),
    log,
    commands,
    messages,
    consumed: consumed.promise,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

describe('POST /organizations/{organization}/forms/{form}/publish', () => {
  it('sends one command, and responds with the form of the reply', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 600_000 })
    const requestId = randomUUID()

    const response = await gateway.send('POST', publish, {
      headers: { ...json, 'if-match': '"2-abc", W/"1"', 'x-request-id': 'r-1' },
      body: JSON.stringify({ requestId: requestId.toUpperCase() }),
    })

    expect([response.status, response.json()]).toEqual([200, form])
    expect(response.headers).toMatchObject({
      etag: '"3-k9Qz"',
      'x-request-id': 'r-1',
      'cache-control': 'private, no-cache',
      vary: 'x-api-key',
    })
    expect(gateway.commands).toEqual([
      {
        commandId: requestId,
        organizationId: gateway.organization.organizationId,
        formRef: publicId,
        userId: gateway.directory.userOf(gateway.key).userId,
        key: gateway.directory.actorKeyOf(gateway.key),
        validateOnly: false,
        ifMatch: ['2-abc'],
      },
    ])
    expect(gateway.messages[0]!.headers!.get(requestIdHeader)).toBe('r-1')
    const deadline = Number(gateway.messages[0]!.headers!.get(deadlineHeader))
    expect(deadline - performance.now()).toBeLessThan(600_000)
    expect(deadline - performance.now()).toBeGreaterThan(595_000)
    expect(gateway.messages[0]!.headers!.has('Nats-Msg-Id')).toBe(false)
  })

  it('accepts an empty body as {}, and generates the id of the command', async () => {
    await using gateway = await startPublishing(published)

    expect((await gateway.send('POST', publish)).status).toBe(200)
    expect((await gateway.send('POST', publish, { headers: json, body: '' })).status).toBe(200)

    expect(gateway.commands).toMatchObject([{ validateOnly: false }, { validateOnly: false }])
    expect(gateway.commands[0]!.commandId).not.toBe(gateway.commands[1]!.commandId)
  })

  it('responds to a dry run without an ETag', async () => {
    await using gateway = await startPublishing(published)

    const response = await gateway.send('POST', publish, { headers: json, body: '{"validateOnly":true}' })

    expect([response.status, response.headers.etag]).toEqual([200, undefined])
    expect(gateway.commands).toMatchObject([{ validateOnly: true }])
  })

  it('sends note and refuseBreaking only if the request has them', async () => {
    await using gateway = await startPublishing(published)
    const note = '😀'.repeat(500)

    for (const body of [
      { note, refuseBreaking: true },
      { note: '', refuseBreaking: false },
    ]) {
      const response = await gateway.send('POST', publish, { headers: json, body: JSON.stringify(body) })
      expect(response.status).toBe(200)
    }

    const [given, none] = gateway.commands
    expect(given).toMatchObject({ note, refuseBreaking: true })
    expect(none).not.toHaveProperty('note')
    expect(none).not.toHaveProperty('refuseBreaking')
  })

  it('matches the replies to concurrent requests', async () => {
    await using gateway = await startPublishing((message) => {
      const { formRef } = PublishForm.decode(message.data)
      return { ...published, formJson: JSON.stringify({ ...form, publicId: formRef }) }
    })
    const ids = Array.from({ length: 50 }, (_, i) => `form${i}`.padEnd(10, 'x'))

    const responses = await Promise.all(
      ids.map((id) => gateway.send('POST', `/v2/organizations/acme/forms/${id}/publish`)),
    )

    expect(responses.map((response) => response.json().publicId)).toEqual(ids)
  })

  it('responds with the error of the reply', async () => {
    await using gateway = await startPublishing(refused)

    const response = await gateway.send('POST', publish, { headers: { 'x-request-id': 'r-1' } })

    expect([response.status, response.json()]).toEqual([400, rejection.toBody('r-1')])
  })

  it.each([
    ['{"validateonly":true}', '', {}, 'INVALID_REQUEST'],
    ['{"requestId":"1"}', '', {}, 'INVALID_REQUEST'],
    [`{"note":"${'x'.repeat(501)}"}`, '', {}, 'INVALID_REQUEST'],
    [`{"note":"${'x'.repeat(501)}","validateOnly":true}`, '', {}, 'INVALID_REQUEST'],
    ['{"note":null}', '', {}, 'INVALID_REQUEST'],
    ['{"refuseBreaking":"true"}', '', {}, 'INVALID_REQUEST'],
    ['{"note":"a","note":"b"}', '', {}, 'INVALID_REQUEST'],
    ['null', '', {}, 'INVALID_REQUEST'],
    ['[]', '', {}, 'INVALID_REQUEST'],
    ['{', '', {}, 'MALFORMED_JSON'],
    ['{}', '?validateOnly=true', {}, 'INVALID_REQUEST'],
    ['{"validateOnly":true,"validateOnly":false}', '', {}, 'INVALID_REQUEST'],
    ['{"validateOnly":true,"validat\\u0065Only":false}', '', {}, 'INVALID_REQUEST'],
    [`{"validateOnly":true,${' '.repeat(2 ** 13)}"validateOnly":false}`, '', {}, 'INVALID_REQUEST'],
    [`{"validateOnly":[${'[],'.repeat(2 ** 12)}[]]}`, '', {}, 'INVALID_REQUEST'],
    ['['.repeat(2 ** 13), '', {}, 'MALFORMED_JSON'],
    ['{}', '', { 'if-match': '3-k9Qz' }, 'INVALID_IF_MATCH'],
  ])('sends nothing for %s%s %j', async (body, query, headers, reason) => {
    await using gateway = await startPublishing(published)

    const response = await gateway.send('POST', publish + query, { headers: { ...json, ...headers }, body })

    expect([response.status, reasonOf(response)]).toEqual([400, reason])
    await gateway.send('POST', publish)
    expect(gateway.commands).toHaveLength(1)
  })

  it('responds with 504 and the requestId when there is no reply in time', async () => {
    await using gateway = await startPublishing('none', { publishTimeoutMs: 200 })

    const response = await gateway.send('POST', publish)

    expect([response.status, reasonOf(response)]).toEqual([504, 'PUBLISH_TIMEOUT'])
    expect(response.json().error.details[0].metadata).toEqual({ requestId: gateway.commands[0]!.commandId })
    expect(response.headers['retry-after']).toBe('1')
  })

  it('sends a command again until the stream stores it', async () => {
    await using gateway = await startPublishing(published)
    const { streams } = gateway.manager
    await streams.update(publishStream.name, { subjects: ['publish.other'] })
    const nats = await connectNats(gateway.server.urls.gateway, 'gateway')
    const failed = failedSend(nats)
    const publisher = createPublisherClient(Promise.resolve(nats), gateway.log.logger)
    await gateway.log.line('connected to NATS')

    const command = { ...ids, key: { id: randomUUID(), prefix: 'abcd1234' }, validateOnly: false }
    const reply = publisher.publishForm(command, performance.now() + 600_000, 'r-1')
    await failed
    await streams.update(publishStream.name, { subjects: [...publishStream.subjects] })

    expect(await reply).toEqual(published)
    expect(gateway.commands).toHaveLength(1)
    await publisher.close()
  })

  it('sends no command again that has its reply', async () => {
    await using gateway = await startPublishing(published)
    const { streams } = gateway.manager
    await streams.update(publishStream.name, { subjects: ['publish.other'] })
    const nats = await connectNats(gateway.server.urls.gateway, 'gateway')
    const failed = failedSend(nats)
    const publisher = createPublisherClient(Promise.resolve(nats), gateway.log.logger)
    await gateway.log.line('connected to NATS')
    const send = (commandId: string) =>
      publisher.publishForm(
        { ...ids, commandId, key: { id: randomUUID(), prefix: 'abcd1234' }, validateOnly: false },
        performance.now() + 600_000,
        'r-1',
      )
    const [first, second] = [send(randomUUID()), send(ids.commandId)]
    await failed

    const inbox = vi.mocked(nats.request).mock.calls[0]![2]!.headers!.get(replyInboxHeader)
    gateway.nats.publish(inbox, FormPublished.encode(published))
    await first
    await streams.update(publishStream.name, { subjects: [...publishStream.subjects] })

    await second
    expect(gateway.commands.map(({ commandId }) => commandId)).toEqual([ids.commandId])
    await publisher.close()
  })

  it('responds with 503 immediately while the stream is full, and publishes afterwards', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 600_000 })
    const { streams } = gateway.manager
    await streams.update(publishStream.name, { max_bytes: 1, discard: DiscardPolicy.New })

    const full = await gateway.send('POST', publish)
    expect([full.status, reasonOf(full)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])

    await streams.update(publishStream.name, { max_bytes: -1 })
    expect((await gateway.send('POST', publish)).status).toBe(200)
  })

  it('responds with 503 at its deadline while NATS hangs, and sends its clock to publishers', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 500 })
    process.kill(gateway.server.pid, 'SIGSTOP')
    const response = await gateway.send('POST', publish)
    process.kill(gateway.server.pid, 'SIGCONT')
    expect([response.status, reasonOf(response)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])

    // The command was in the socket's buffer. The publisher computes from the clock that it is too late.
    await gateway.consumed
    const headers = gateway.messages[0]!.headers!
    const inbox = clockInboxOf(headers.get(replyInboxHeader))
    const clock = GatewayClock.decode((await gateway.nats.request(inbox)).data)
    expect(clock.nowMs).toBeGreaterThan(Number(headers.get(deadlineHeader)))
  })

  it('responds with 503 without a stream, and opens the circuit', async () => {
    await using gateway = await startPublishing('none', { withStream: false, publishTimeoutMs: 100 })

    const opened = gateway.log.line('circuit open')
    for (let i = 0; i < 6; i++) {
      const response = await gateway.send('POST', publish)
      expect([response.status, reasonOf(response)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])
    }
    await opened
  })

  it('responds with 503 immediately while NATS is unavailable, and publishes after a reconnect', async () => {
    await using gateway = await startPublishing(published)
    const disconnected = gateway.log.line('disconnected from NATS')
    await gateway.server.stop()
    await disconnected

    const response = await gateway.send('POST', publish)
    expect([response.status, reasonOf(response)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])
    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)

    const reconnected = gateway.log.line('connected to NATS')
    await gateway.server.restart()
    await reconnected
    expect((await gateway.send('POST', publish)).status).toBe(200)
  })

  it('sends a command again after a reconnect, since its reply may be lost', async () => {
    const replies: Reply[] = ['none', published]
    await using gateway = await startPublishing(() => replies.shift() as FormPublished)
    const response = gateway.send('POST', publish)
    await gateway.consumed

    await gateway.server.stop()
    await gateway.server.restart()

    expect((await response).status).toBe(200)
    const [first, second] = gateway.commands
    expect(second).toEqual(first)
  })

  it.each([
    ['publishes', published, 200],
    ['is refused as well', refused, 400],
  ])('is not refused before a second copy of the command %s', async (_, outcome, status) => {
    await using gateway = await startPublishing('none')
    const response = gateway.send('POST', publish)
    await gateway.consumed
    await gateway.server.stop()
    await gateway.server.restart()
    await expect.poll(() => gateway.commands.length, { timeout: 30_000 }).toBe(2)

    for (const each of [refused, outcome])
      gateway.nats.publish(gateway.messages[0]!.headers!.get(replyInboxHeader), FormPublished.encode(each))

    expect((await response).status).toBe(status)
  })

  it('is not refused in the iteration of the event loop in which a second copy is about to be sent', async () => {
    let receive: (error: null, message: object) => void = () => {}
    const request = vi.fn(async (_: string, __: unknown, options: { headers: MsgHdrs }) => {
      if (request.mock.calls.length > 1) return new Promise<never>(() => {})
      const refuse = () =>
        receive(null, { subject: options.headers.get(replyInboxHeader), data: FormPublished.encode(refused) })
      setImmediate(() => {
        setTimeout(refuse, 250)
        // So long that the timers of the second copy and of the refusal are due in one turn.
        setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50), 225)
      })
      throw new errors.TimeoutError()
    })
    const subscribe = (_: string, options: { callback: typeof receive }) => {
      receive = options.callback
    }
    const nats = { options: {}, subscribe, request, status: () => new ReadableStream() }
    const log = startLog()
    const publisher = createPublisherClient(Promise.resolve(nats as never), log.logger)
    await log.line('connected to NATS')

    const command = { ...ids, key: { id: randomUUID(), prefix: 'abcd1234' }, validateOnly: false }
    const reply = publisher.publishForm(command, performance.now() + 600_000, 'r-1')
    await vi.waitFor(() => expect(request).toHaveBeenCalledTimes(2))
    const early = await Promise.race([reply, delay(50, 'none')])
    receive(null, {
      subject: request.mock.calls[0]![2].headers.get(replyInboxHeader),
      data: FormPublished.encode(published),
    })

    expect([early, await reply]).toEqual(['none', published])
  })

  it('gets the refusal of one copy at its deadline if another one has no reply', async () => {
    await using gateway = await startPublishing(() => (gateway.commands.length === 1 ? 'none' : refused), {
      publishTimeoutMs: 4_000,
    })
    const response = gateway.send('POST', publish)
    await gateway.consumed
    await gateway.server.stop()
    await gateway.server.restart()

    expect([(await response).status, gateway.commands.length]).toEqual([400, 2])
  })

  it('keeps its seat until its reply when its caller has gone: 8 of a user are on their way, others wait', async () => {
    const received: JsMsg[] = []
    await using gateway = await startPublishing((message) => {
      received.push(message)
      return 'none'
    })
    const reply = (message: JsMsg) =>
      gateway.nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(published))
    const caller = new AbortController()
    const options = {
      method: 'POST',
      headers: { 'x-api-key': gateway.key },
      signal: caller.signal,
    }
    const leaving = Array.from({ length: 8 }, () => fetch(gateway.origin + publish, options))
    await expect.poll(() => received.length).toBe(8)
    caller.abort()
    await Promise.allSettled(leaving)
    const waiting = gateway.send('POST', publish)
    const colleague = gateway.directory.createKey([gateway.organization])
    const other = gateway.send('POST', publish, { as: colleague })
    await expect.poll(() => received.length).toBe(9)
    expect(gateway.commands[8]!.userId).toBe(gateway.directory.userOf(colleague).userId)

    reply(received[0]!)

    await expect.poll(() => received.length).toBe(10)
    for (const message of received.slice(1)) reply(message)
    expect([(await waiting).status, (await other).status]).toEqual([200, 200])
  })

  it('has the smaller share when it compares: one of a user is on its way', async () => {
    const received: JsMsg[] = []
    await using gateway = await startPublishing((message) => {
      received.push(message)
      return 'none'
    })
    const body = '{"refuseBreaking":true}'
    const comparing = [1, 2].map(() => gateway.send('POST', publish, { headers: json, body }))
    await expect.poll(() => received.length).toBe(1)

    const other = gateway.send('POST', publish)

    await expect.poll(() => received.length).toBe(2)
    expect(gateway.commands.map(({ refuseBreaking }) => refuseBreaking)).toEqual([true, undefined])
    for (const count of [3, 3]) {
      for (const message of received)
        gateway.nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(published))
      await expect.poll(() => gateway.commands.length).toBe(count)
    }
    expect((await Promise.all([...comparing, other])).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('is refused when its turn does not come in half of its time, and never sent', async () => {
    await using gateway = await startPublishing('none', { publishTimeoutMs: 1_000 })
    const sent = Array.from({ length: 9 }, () => gateway.send('POST', publish))

    const responses = await Promise.all(sent)

    expect(responses.map(reasonOf).toSorted()).toEqual(['OVERLOADED', ...Array(8).fill('PUBLISH_TIMEOUT')])
    expect(gateway.commands).toHaveLength(8)
  })

  it('gets its response before the gateway stops', async () => {
    const received = Promise.withResolvers<JsMsg>()
    await using gateway = await startPublishing((message) => {
      received.resolve(message)
      return 'none'
    })
    const response = gateway.send('POST', publish)
    const message = await received.promise

    const stopped = gateway.app.close()
    gateway.nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(published))

    expect((await response).status).toBe(200)
    await stopped
  })
})

/** Resolves when a message of this connection gets no PubAck. */
const failedSend = (nats: NatsConnection): Promise<void> => {
  const failed = Promise.withResolvers<void>()
  const request = nats.request.bind(nats)
  vi.spyOn(nats, 'request').mockImplementation(async (...message) => {
    try {
      return await request(...message)
    } catch (error) {
      failed.resolve()
      throw error
    }
  })
  return failed.promise
}
