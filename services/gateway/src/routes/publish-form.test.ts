import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { AckPolicy, DiscardPolicy, type JsMsg, type NatsConnection, RetentionPolicy } from 'nats'
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

type Reply = FormPublished | 'none' | ((message: JsMsg) => FormPublished | 'none')

/** The gateway on a real NATS, and in the publisher's place one that gives the reply the test wants. */
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
  const taken = Promise.withResolvers<void>()
  if (withStream) {
    const manager = await nats.jetstreamManager()
    await manager.streams.add({
      name: publishStream.name,
      subjects: [...publishStream.subjects],
      retention: RetentionPolicy.Workqueue,
    })
    await manager.consumers.add(publishStream.name, {
      durable_name: publisherConsumer,
      ack_policy: AckPolicy.Explicit,
    })
    const consumer = await nats.jetstream().consumers.get(publishStream.name, publisherConsumer)
    await consumer.consume({
      callback: (message) => {
        message.ack()
        messages.push(message)
        commands.push(PublishForm.decode(message.data))
        taken.resolve()
        const answer = typeof reply === 'function' ? reply(message) : reply
        if (answer !== 'none')
          nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(answer))
      },
    })
  }
  const log = startLog()
  const connected = log.line('connected to NATS')
  const gateway = stack.use(
    await startGateway({ natsUrl: server.urls.gateway, logger: log.logger, ...options }),
  )
  await connected
  const kept = stack.move()
  return {
    ...gateway,
    dataDir: folder.path,
    server,
    nats,
    manager: await operator.jetstreamManager(),
    log,
    commands,
    messages,
    taken: taken.promise,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

describe('POST /organizations/{organization}/forms/{form}/publish', () => {
  it('sends one command and answers what the publisher says', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 600_000 })
    const requestId = randomUUID()

    const answer = await gateway.send('POST', publish, {
      headers: { ...json, 'if-match': '"2-abc", W/"1"', 'x-request-id': 'r-1' },
      body: JSON.stringify({ requestId: requestId.toUpperCase() }),
    })

    expect([answer.status, answer.json()]).toEqual([200, form])
    expect(answer.headers).toMatchObject({
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
        userId: gateway.directory.user(gateway.key).userId,
        validateOnly: false,
        ifMatch: ['2-abc'],
        timeoutMs: expect.any(Number),
      },
    ])
    expect(600_000 - gateway.commands[0]!.timeoutMs).toBeOneOf(Array.from({ length: 5_000 }, (_, ms) => ms))
    expect(gateway.messages[0]!.headers!.get(requestIdHeader)).toBe('r-1')
    const deadline = Number(gateway.messages[0]!.headers!.get(deadlineHeader))
    expect(deadline - performance.now()).toBeLessThan(600_000)
    expect(deadline - performance.now()).toBeGreaterThan(595_000)
    expect(gateway.messages[0]!.headers!.has('Nats-Msg-Id')).toBe(false)
  })

  it('takes no body at all for {}, and gives the command an id', async () => {
    await using gateway = await startPublishing(published)

    expect((await gateway.send('POST', publish)).status).toBe(200)
    expect((await gateway.send('POST', publish, { headers: json, body: '' })).status).toBe(200)

    expect(gateway.commands).toMatchObject([{ validateOnly: false }, { validateOnly: false }])
    expect(gateway.commands[0]!.commandId).not.toBe(gateway.commands[1]!.commandId)
  })

  it('answers a dry run without an ETag', async () => {
    await using gateway = await startPublishing(published)

    const answer = await gateway.send('POST', publish, { headers: json, body: '{"validateOnly":true}' })

    expect([answer.status, answer.headers.etag]).toEqual([200, undefined])
    expect(gateway.commands).toMatchObject([{ validateOnly: true }])
  })

  it('gives each of many at once its own reply', async () => {
    await using gateway = await startPublishing((message) => {
      const { formRef } = PublishForm.decode(message.data)
      return { ...published, formJson: JSON.stringify({ ...form, publicId: formRef }) }
    })
    const ids = Array.from({ length: 50 }, (_, i) => `form${i}`.padEnd(10, 'x'))

    const answers = await Promise.all(
      ids.map((id) => gateway.send('POST', `/v2/organizations/acme/forms/${id}/publish`)),
    )

    expect(answers.map((answer) => answer.json().publicId)).toEqual(ids)
  })

  it('answers a refusal as the publisher words it', async () => {
    const refusal = new ApiError('FAILED_PRECONDITION', 'FORM_NOT_READY', 'Add a question.', {
      preconditionViolations: [{ type: 'STEPS', subject: 'steps', description: 'needs a question' }],
      metadata: { form: 'f' },
    })
    await using gateway = await startPublishing({ outcome: 'refused', problem: refusal.toProblem() })

    const answer = await gateway.send('POST', publish, { headers: { 'x-request-id': 'r-1' } })

    expect([answer.status, answer.json()]).toEqual([400, refusal.toBody('r-1')])
  })

  it.each([
    ['{"validateonly":true}', '', {}, 'INVALID_REQUEST'],
    ['{"requestId":"1"}', '', {}, 'INVALID_REQUEST'],
    ['null', '', {}, 'INVALID_REQUEST'],
    ['[]', '', {}, 'INVALID_REQUEST'],
    ['{', '', {}, 'MALFORMED_JSON'],
    ['{}', '?validateOnly=true', {}, 'INVALID_REQUEST'],
    ['{"validateOnly":true,"validateOnly":false}', '', {}, 'INVALID_REQUEST'],
    ['{"validateOnly":true,"validat\\u0065Only":false}', '', {}, 'INVALID_REQUEST'],
    [`{"validateOnly":true,${' '.repeat(2 ** 19)}"validateOnly":false}`, '', {}, 'INVALID_REQUEST'],
    [`{"validateOnly":[${'[],'.repeat(2 ** 17)}[]]}`, '', {}, 'INVALID_REQUEST'],
    ['['.repeat(2 ** 20), '', {}, 'MALFORMED_JSON'],
    ['{}', '', { 'if-match': '3-k9Qz' }, 'INVALID_IF_MATCH'],
  ])('sends nothing for %s%s %j', async (body, query, headers, reason) => {
    await using gateway = await startPublishing(published)

    const answer = await gateway.send('POST', publish + query, { headers: { ...json, ...headers }, body })

    expect([answer.status, reasonOf(answer)]).toEqual([400, reason])
    await gateway.send('POST', publish)
    expect(gateway.commands).toHaveLength(1)
  })

  it('answers 504 when nobody replies in time, and says how to repeat it', async () => {
    await using gateway = await startPublishing('none', { publishTimeoutMs: 200 })

    const answer = await gateway.send('POST', publish)

    expect([answer.status, reasonOf(answer)]).toEqual([504, 'PUBLISH_TIMEOUT'])
    expect(answer.json().error.details[0].metadata).toEqual({ requestId: gateway.commands[0]!.commandId })
    expect(answer.headers['retry-after']).toBe('1')
  })

  it('sends a command again until the stream takes it', async () => {
    await using gateway = await startPublishing(published)
    const { streams } = gateway.manager
    await streams.update(publishStream.name, { subjects: ['publish.other'] })
    const nats = await connectNats(gateway.server.urls.gateway, 'gateway')
    const failed = failedSends(nats)
    const publisher = createPublisherClient(Promise.resolve(nats), gateway.log.logger, 1)
    await gateway.log.line('connected to NATS')

    const command = { ...ids, validateOnly: false }
    const reply = publisher.publishForm(command, 600_000, 'r-1', new AbortController().signal)
    await failed
    await streams.update(publishStream.name, { subjects: [...publishStream.subjects] })

    expect(await reply).toEqual(published)
    expect(gateway.commands).toHaveLength(1)
    await publisher.close()
  })

  it('answers 503 at once while the queue is full, and publishes once it has room', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 600_000 })
    const { streams } = gateway.manager
    await streams.update(publishStream.name, { max_bytes: 1, discard: DiscardPolicy.New })

    const full = await gateway.send('POST', publish)
    expect([full.status, reasonOf(full)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])

    await streams.update(publishStream.name, { max_bytes: -1 })
    expect((await gateway.send('POST', publish)).status).toBe(200)
  })

  it('answers 503 at its deadline while NATS hangs, and says its clock to publishers until then', async () => {
    await using gateway = await startPublishing(published, { publishTimeoutMs: 500 })
    process.kill(gateway.server.pid, 'SIGSTOP')
    const answer = await gateway.send('POST', publish)
    process.kill(gateway.server.pid, 'SIGCONT')
    expect([answer.status, reasonOf(answer)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])

    // The bytes were on their way; a publisher sees that they are late.
    await gateway.taken
    const headers = gateway.messages[0]!.headers!
    const inbox = clockInboxOf(headers.get(replyInboxHeader))
    const clock = GatewayClock.decode((await gateway.nats.request(inbox)).data)
    expect(clock.nowMs).toBeGreaterThan(Number(headers.get(deadlineHeader)))
  })

  it('answers 503 where there is no stream, until a circuit says so at once', async () => {
    await using gateway = await startPublishing('none', { withStream: false, publishTimeoutMs: 100 })

    const opened = gateway.log.line('circuit open')
    for (let i = 0; i < 6; i++) {
      const answer = await gateway.send('POST', publish)
      expect([answer.status, reasonOf(answer)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])
    }
    await opened
  })

  it('answers 503 at once while NATS is away, and publishes again when it is back', async () => {
    await using gateway = await startPublishing(published)
    const away = gateway.log.line('disconnected from NATS')
    await gateway.server.stop()
    await away

    const answer = await gateway.send('POST', publish)
    expect([answer.status, reasonOf(answer)]).toEqual([503, 'PUBLISHING_UNAVAILABLE'])
    expect((await gateway.send('GET', '/v2/organizations/acme/forms')).status).toBe(200)

    const back = gateway.log.line('connected to NATS')
    await using _ = await startNatsServer({ dataDir: gateway.dataDir, port: gateway.server.port })
    await back
    expect((await gateway.send('POST', publish)).status).toBe(200)
  })

  it('sends a command again when NATS comes back, since its reply may be lost', async () => {
    const replies: Reply[] = ['none', published]
    await using gateway = await startPublishing(() => replies.shift() as FormPublished)
    const answer = gateway.send('POST', publish)
    await gateway.taken

    await gateway.server.stop()
    await using _ = await startNatsServer({ dataDir: gateway.dataDir, port: gateway.server.port })

    expect((await answer).status).toBe(200)
    const [first, second] = gateway.commands
    expect(second).toEqual({ ...first, timeoutMs: second!.timeoutMs })
    expect(second!.timeoutMs).toBeLessThan(first!.timeoutMs)
  })

  it('stops waiting when the client goes away', async () => {
    await using gateway = await startPublishing('none')
    const nats = await connectNats(gateway.server.urls.gateway, 'gateway')
    const publisher = createPublisherClient(Promise.resolve(nats), gateway.log.logger, 1)
    await gateway.log.line('connected to NATS')
    const gone = new AbortController()
    const command = { ...ids, validateOnly: false }

    const reply = publisher.publishForm(command, 600_000, 'r-1', gone.signal)
    await gateway.taken
    gone.abort()

    expect(await reply).toBeUndefined()
    await publisher.close()
  })

  it('is answered before the gateway stops', async () => {
    const asked = Promise.withResolvers<JsMsg>()
    await using gateway = await startPublishing((message) => {
      asked.resolve(message)
      return 'none'
    })
    const answer = gateway.send('POST', publish)
    const message = await asked.promise

    const stopped = gateway.app.close()
    gateway.nats.publish(message.headers!.get(replyInboxHeader), FormPublished.encode(published))

    expect((await answer).status).toBe(200)
    await stopped
  })
})

/** Resolves once a message of this connection has got no PubAck. */
const failedSends = (nats: NatsConnection): Promise<void> => {
  const jetstream = nats.jetstream()
  const failed = Promise.withResolvers<void>()
  const publish: typeof jetstream.publish = async (...message) => {
    try {
      return await jetstream.publish(...message)
    } catch (error) {
      failed.resolve()
      throw error
    }
  }
  vi.spyOn(nats, 'jetstream').mockReturnValue(Object.create(jetstream, { publish: { value: publish } }))
  return failed.promise
}
