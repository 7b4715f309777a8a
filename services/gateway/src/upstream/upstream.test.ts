import { setTimeout as delay } from 'node:timers/promises'
import { identityHeader } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway, startLog, startService } from '../testing.ts'
import { createAgent, createUpstream } from './upstream.ts'

const forms = '/v2/organizations/acme/forms'

describe('a service that is away', () => {
  it('is UNAVAILABLE, and takes nothing else with it', async () => {
    await using gateway = await startGateway()
    await gateway.forms.stop()

    const answer = await gateway.send('GET', forms)

    expect([answer.status, reasonOf(answer)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
    expect(answer.json().error.details[0].metadata).toEqual({ service: 'forms' })
    expect(answer.headers['retry-after']).toBe('1')
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })

  it('is left alone after a few failures, and asked again once it is back', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    const { port } = gateway.forms
    await gateway.forms.stop()

    const opened = log.line('circuit open')
    for (let i = 0; i < 5; i++) expect((await gateway.send('GET', forms)).status).toBe(503)
    await opened
    const back = await startService(() => ({ back: true }), port)

    const closed = log.line('circuit closed')
    while ((await gateway.send('GET', forms)).status !== 200);
    await closed
    expect(log.lines.filter(({ circuit }) => circuit === 'forms')).toHaveLength(2)
    await back.stop()
  })

  it.each([
    [503, false],
    [500, true],
    [404, true],
  ])('answers %i for itself; more of them reach it: %j', async (code, reached) => {
    await using gateway = await startGateway()
    gateway.forms.answer = (_, reply) => reply.code(code).send({ theirs: true })

    for (let i = 0; i < 10; i++) await gateway.send('GET', forms)

    expect(gateway.forms.received.length === 10).toBe(reached)
  })

  it('fails at once for the user whose requests fail, and for nobody else', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    const { key, directory } = gateway
    const colleague = directory.key([gateway.organization])
    const { userId } = directory.user(key)
    gateway.forms.answer = ({ headers }, reply) => {
      const [, claims] = String(headers[identityHeader]).split('.')
      const isFailing = Buffer.from(claims!, 'base64url').toString().includes(userId)
      return reply.code(isFailing ? 503 : 200).send({})
    }

    for (let i = 0; i < 10; i++) {
      await gateway.send('GET', forms)
      for (const as of [colleague, gateway.stranger()])
        expect((await gateway.send('GET', forms, { as })).status).toBe(200)
    }

    expect(reasonOf(await gateway.send('GET', forms))).toBe('UPSTREAM_UNAVAILABLE')
    expect(log.lines.filter(({ msg }) => msg.startsWith('circuit'))).toMatchObject([
      { msg: expect.stringContaining('circuit open'), circuit: 'forms', user: userId },
    ])
  })

  it('is read while it refuses writes', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = ({ method }, reply) => reply.code(method === 'GET' ? 200 : 503).send({})

    for (let i = 0; i < 10; i++) expect((await gateway.send('POST', forms)).status).toBe(503)

    expect((await gateway.send('GET', forms)).status).toBe(200)
    expect(gateway.forms.received).toHaveLength(11)
  })

  it('does not lose a read to a connection that ended while idle', async () => {
    await using gateway = await startGateway()
    await gateway.send('GET', forms)
    let dropped = false
    gateway.forms.answer = (request) => {
      if (!dropped) request.raw.socket.destroy()
      dropped = true
      return {}
    }

    expect((await gateway.send('GET', forms)).status).toBe(200)
    expect(gateway.forms.received).toHaveLength(3)
  })

  it('is not asked a second time to write', async () => {
    await using gateway = await startGateway()
    gateway.forms.answer = (request) => {
      request.raw.socket.destroy()
    }

    expect((await gateway.send('POST', forms)).status).toBe(503)
    expect(gateway.forms.received).toHaveLength(1)
  })
})

describe('a service that hangs', () => {
  /** Asks it with little patience, past the gateway. */
  const startHanging = async () => {
    await using stack = new AsyncDisposableStack()
    const service = await startService(() => new Promise(() => {}))
    stack.defer(() => service.stop())
    const agent = createAgent(1_000)
    stack.defer(() => agent.destroy())
    const log = startLog()
    const upstream = createUpstream({
      name: 'hanging',
      origin: service.origin,
      agent,
      logger: log.logger,
      maxRequests: 10,
    })
    const kept = stack.move()
    return { service, upstream, log, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }
  const question = { method: 'GET', path: '/forms' } as const

  it('is waited for once, then left alone, and asked again once it answers', async () => {
    await using hanging = await startHanging()
    const { service, upstream, log } = hanging
    const opened = log.line('circuit open')
    await expect(upstream.request(question)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    await opened

    await expect(upstream.request(question)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    expect(service.received).toHaveLength(1)

    const closed = log.line('circuit closed')
    service.answer = () => ({})
    while ((await upstream.request(question).catch(() => undefined))?.statusCode !== 200) await delay(20)
    await closed
  })

  it('is not asked a second time to write', async () => {
    await using hanging = await startHanging()

    await expect(hanging.upstream.request({ method: 'POST', path: '/forms' })).rejects.toThrow()
    expect(hanging.service.received).toHaveLength(1)
  })
})

describe('a client that goes away', () => {
  it('leaves the gateway able to answer the next one', async () => {
    await using gateway = await startGateway()
    const asked = Promise.withResolvers<() => void>()
    gateway.forms.answer = () => new Promise((answer) => asked.resolve(() => answer({})))
    const controller = new AbortController()
    const impatient = fetch(`${gateway.origin}${forms}`, {
      headers: { 'x-api-key': gateway.key },
      signal: controller.signal,
    })
    const answer = await asked.promise
    controller.abort()
    await expect(impatient).rejects.toThrow()
    answer()

    gateway.forms.answer = () => ({})
    expect((await gateway.send('GET', forms)).status).toBe(200)
  })
})
