import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway, startLog, startStubService } from '../testing.ts'
import { createAgent } from './connections.ts'
import { createUpstream } from './upstream.ts'

const forms = '/v2/organizations/acme/forms'

describe('a service that is unavailable', () => {
  it('causes UPSTREAM_UNAVAILABLE, and other services still respond', async () => {
    await using gateway = await startGateway()
    await gateway.forms.stop()

    const response = await gateway.send('GET', forms)

    expect([response.status, reasonOf(response)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
    expect(response.json().error.details[0].metadata).toEqual({ service: 'forms' })
    expect(response.headers['retry-after']).toBe('1')
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
  })

  it('gets no requests after a few failures, until it is available again', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    const { port } = gateway.forms
    await gateway.forms.stop()

    const opened = log.line('circuit open')
    for (let i = 0; i < 5; i++) expect((await gateway.send('GET', forms)).status).toBe(503)
    await opened
    const restarted = await startStubService(() => ({ restarted: true }), port)

    const closed = log.line('circuit closed')
    while ((await gateway.send('GET', forms)).status !== 200);
    await closed
    expect(log.lines.filter(({ circuit }) => circuit === 'forms')).toHaveLength(2)
    await restarted.stop()
  })

  it('gets no requests after it has rejected the token of the gateway, and the log says why', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    gateway.forms.respond = (_, reply) => reply.code(401).header('www-authenticate', 'FmsIdentity').send({})

    for (let i = 0; i < 6; i++) {
      const response = await gateway.send('GET', forms)
      expect([response.status, reasonOf(response)]).toEqual([503, 'UPSTREAM_UNAVAILABLE'])
    }

    expect(gateway.forms.received).toHaveLength(5)
    const warnings = log.lines.filter(({ circuit }) => circuit === 'forms')
    expect(warnings).toMatchObject([{ cause: expect.stringContaining('another INTERNAL_SECRET') }])
  })

  it.each([503, 504, 500, 404])('has its %i forwarded, and gets further requests', async (code) => {
    await using gateway = await startGateway()
    gateway.forms.respond = (_, reply) => reply.code(code).send({ theirs: true })

    for (let i = 0; i < 10; i++) expect((await gateway.send('GET', forms)).status).toBe(code)

    expect(gateway.forms.received).toHaveLength(10)
  })

  it('gets further requests while callers leave', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = () => new Promise(() => {})
    for (let i = 1; i <= 6; i++) {
      const caller = new AbortController()
      const options = { headers: { 'x-api-key': gateway.key }, signal: caller.signal }
      const leaving = fetch(gateway.origin + forms, options)
      await expect.poll(() => gateway.forms.received.length).toBe(i)
      caller.abort()
      await expect(leaving).rejects.toThrow()
    }
    gateway.forms.respond = () => ({})

    expect((await gateway.send('GET', forms)).status).toBe(200)
  })

  it('gets a read again whose connection was closed while idle', async () => {
    await using gateway = await startGateway()
    await gateway.send('GET', forms)
    let dropped = false
    gateway.forms.respond = (request) => {
      if (!dropped) request.raw.socket.destroy()
      dropped = true
      return {}
    }

    expect((await gateway.send('GET', forms)).status).toBe(200)
    expect(gateway.forms.received).toHaveLength(3)
  })

  it('gets a write only once', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = (request) => {
      request.raw.socket.destroy()
    }

    expect((await gateway.send('POST', forms)).status).toBe(503)
    expect(gateway.forms.received).toHaveLength(1)
  })
})

describe('a service that hangs', () => {
  /** A stub that never responds, and an upstream with a timeout of a second. */
  const startHanging = async () => {
    await using stack = new AsyncDisposableStack()
    const service = await startStubService(() => new Promise(() => {}))
    stack.defer(() => service.stop())
    const agent = createAgent(1_000)
    stack.defer(() => agent.destroy())
    const log = startLog()
    const upstream = createUpstream({
      name: 'hanging',
      origin: service.origin,
      agent,
      logger: log.logger,
    })
    const resources = stack.move()
    return { service, upstream, log, [Symbol.asyncDispose]: () => resources.disposeAsync() }
  }
  const read = { method: 'GET', path: '/forms' } as const

  it('opens the circuit after one timeout, until it responds again', async () => {
    await using hanging = await startHanging()
    const { service, upstream, log } = hanging
    const opened = log.line('circuit open')
    await expect(upstream.request(read)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    await opened

    await expect(upstream.request(read)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    expect(service.received).toHaveLength(1)

    const closed = log.line('circuit closed')
    service.respond = () => ({})
    while ((await upstream.request(read).catch(() => undefined))?.statusCode !== 200) await delay(20)
    await closed
  })

  it('is available again after a trial whose caller leaves', async () => {
    await using hanging = await startHanging()
    const { service, upstream, log } = hanging
    await expect(upstream.request(read)).rejects.toThrow()
    service.respond = () => delay(200, {})
    const closed = log.line('circuit closed')
    const leave = async () => {
      const reply = { hasEnded: false, elapsedTime: 0, onDisconnect: undefined as (() => void) | undefined }
      const response = upstream.request({ ...read, reply }).catch(() => {})
      await delay(50)
      reply.hasEnded = true
      reply.onDisconnect?.()
      await response
    }

    while (service.received.length < 2) await leave()

    await closed
  })

  it('gets a write only once', async () => {
    await using hanging = await startHanging()

    await expect(hanging.upstream.request({ method: 'POST', path: '/forms' })).rejects.toThrow()
    expect(hanging.service.received).toHaveLength(1)
  })
})

describe('a client that disconnects', () => {
  it('does not affect the next request', async () => {
    await using gateway = await startGateway()
    const received = Promise.withResolvers<() => void>()
    gateway.forms.respond = () => new Promise((resolve) => received.resolve(() => resolve({})))
    const controller = new AbortController()
    const pending = fetch(`${gateway.origin}${forms}`, {
      headers: { 'x-api-key': gateway.key },
      signal: controller.signal,
    })
    const respond = await received.promise
    controller.abort()
    await expect(pending).rejects.toThrow()
    respond()

    gateway.forms.respond = () => ({})
    expect((await gateway.send('GET', forms)).status).toBe(200)
  })
})
