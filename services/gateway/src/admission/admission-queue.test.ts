import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Gateway, type GatewayTestOptions, json, reasonOf, startGateway } from '../testing.ts'
import { AdmissionQueue } from './admission-queue.ts'

const forms = '/v2/organizations/acme/forms'
const form = `${forms}/Ab3dE6gH9j`
const long = JSON.stringify({ form: { name: 'x'.repeat(20_000) } })

/** A gateway whose stub of forms responds to one request after another when the test calls `respond`. */
const startBlocked = async (options: GatewayTestOptions = {}) => {
  const gateway = await startGateway(options)
  const blocked: (() => void)[] = []
  gateway.forms.respond = () => new Promise((resolve) => blocked.push(() => resolve({})))
  /** Waits until forms has received as many requests in all. */
  const received = (count: number) => expect.poll(() => gateway.forms.received.length).toBe(count)
  const metric = async (cost: string, state: string) => {
    const { text } = await gateway.send('GET', '/metrics', { as: '' })
    const series = `admission_requests{service="forms",cost="${cost}",state="${state}"}`
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(series))!
        .split(' ')
        .at(-1),
    )
  }
  return {
    gateway,
    received,
    metric,
    waiting: (count: number, cost = 'ordinary') => expect.poll(() => metric(cost, 'waiting')).toBe(count),
    respond: () => blocked.shift()!(),
    release: () => {
      gateway.forms.respond = () => ({})
      for (const respond of blocked.splice(0)) respond()
    },
  }
}

const statusesOf = async (responses: ReturnType<Gateway['send']>[]) =>
  (await Promise.all(responses)).map(({ status }) => status)

describe('the admission queue of a service', () => {
  afterEach(() => void vi.useRealTimers())

  it('admits as many requests as there are seats, and a newcomer next', async () => {
    const { gateway: started, received, waiting, respond, release } = await startBlocked({ maxRequests: 2 })
    await using gateway = started
    const many = Array.from({ length: 10 }, () => gateway.send('GET', form))
    await waiting(8)
    expect(gateway.forms.received).toHaveLength(2)
    const newcomer = gateway.send('GET', form, { as: gateway.createStrangerKey() })
    await waiting(9)

    respond()
    await received(3)

    const { organizationId } = gateway.organization
    expect(gateway.forms.received[2]!.url).not.toContain(organizationId)
    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    release()
    expect(await statusesOf([newcomer, ...many])).toEqual(Array(11).fill(200))
  })

  it.each<[string, string, string, string?]>([
    ['a body over 16 KiB', 'PATCH', form, long],
    ['a page of more than 100', 'GET', `${forms}?pageSize=101`],
    ['a page that skips', 'GET', `${form}/revisions?pageSize=1&skip=100`],
    ['a filter', 'GET', `/v2/organizations/acme/events?filter=type%3Da`],
    ['a mask', 'GET', `${form}?readMask=name`],
    ['a comparison', 'GET', `${form}/changes`],
    ['a delete', 'DELETE', form],
    ['a rollback', 'POST', `${form}/revisions/live/rollback`],
    ['an undelete', 'POST', '/v2/organizations/acme/deletedForms/Ab3dE6gH9j/undelete'],
  ])('has a smaller share for %s: one of a user, two of an organization', async (_, method, path, body) => {
    const { gateway: started, received, waiting, release } = await startBlocked()
    await using gateway = started
    const colleagues = [1, 2].map(() => gateway.directory.createKey([gateway.organization]))
    const options = body === undefined ? {} : { headers: json, body }
    const own = [gateway.send(method, path, options), gateway.send(method, path, options)]
    await received(1)
    await waiting(1, 'expensive')
    const others = colleagues.map((as) => gateway.send(method, path, { ...options, as }))
    await received(2)
    await waiting(2, 'expensive')
    const stranger = gateway.send(method, path, { ...options, as: gateway.createStrangerKey() })
    await received(3)

    const ordinary = gateway.send('GET', form)

    await received(4)
    release()
    expect(await statusesOf([...own, ...others, stranger, ordinary])).toEqual(Array(6).fill(200))
  })

  it('refuses a request whose turn does not come in time: 503 OVERLOADED', async () => {
    const queue = new AdmissionQueue('refusing', { seats: 1 })
    const flow = { organization: 'acme', user: 'alice' }
    const blocked = Promise.withResolvers<string>()
    const first = queue.admit({ flow }, () => blocked.promise)

    const refused = queue.admit({ flow, maxWaitMs: 1 }, async () => 'never')

    await expect(refused).rejects.toMatchObject({
      reason: 'OVERLOADED',
      httpStatus: 503,
      parts: { retryAfterSeconds: 1 },
    })
    blocked.resolve('done')
    expect(await first).toBe('done')
    expect(await queue.admit({ flow }, async () => 'next')).toBe('next')
  })

  it('gives the smaller share to what turned out to be expensive while it waited', async () => {
    const queue = new AdmissionQueue('learning', { seats: 1 })
    const [first, expensive] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const flowOf = (name: string) => ({ organization: name, user: name })
    const done: string[] = []
    let isKnown = false
    const works = [
      queue.admit({ flow: flowOf('a') }, () => first.promise),
      queue.admit({ flow: flowOf('b'), isExpensive: () => true }, () => expensive.promise),
      queue.admit({ flow: flowOf('c'), isExpensive: () => isKnown }, async () => 'learned'),
      queue.admit({ flow: flowOf('d') }, async () => 'last'),
    ].map((work) => work.then((name) => done.push(name!)))
    isKnown = true

    first.resolve('first')
    await works[3]
    expect(done).toEqual(['first', 'last'])
    expensive.resolve('expensive')
    await Promise.all(works)

    expect(done).toEqual(['first', 'last', 'expensive', 'learned'])
  })

  it('lets a request wait once as long, although it changes its queue', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const queue = new AdmissionQueue('twice', { seats: 1 })
    const flowOf = (name: string) => ({ organization: name, user: name })
    const [ordinary, expensive] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const works = [
      queue.admit({ flow: flowOf('a') }, () => ordinary.promise),
      queue.admit({ flow: flowOf('b'), isExpensive: () => true }, () => expensive.promise),
    ]
    let isKnown = false
    const outcome = queue
      .admit({ flow: flowOf('c'), isExpensive: () => isKnown, maxWaitMs: 1_000 }, async () => 'never')
      .catch((error) => error)
    isKnown = true
    await vi.advanceTimersByTimeAsync(500)
    ordinary.resolve()
    await vi.advanceTimersByTimeAsync(500)

    expect(await Promise.race([outcome, 'waits'])).toMatchObject({ reason: 'OVERLOADED' })
    expensive.resolve()
    await Promise.all(works)
  })

  it('measures waiting and working separately', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const queue = new AdmissionQueue('measured', { seats: 1 })
    const flow = { organization: 'acme', user: 'alice' }
    const working = Promise.withResolvers<void>()
    const first = queue.admit({ flow }, () => working.promise)
    const second = queue.admit({ flow }, async () => {})
    await vi.advanceTimersByTimeAsync(2_000)
    working.resolve()
    await Promise.all([first, second])
    vi.useRealTimers()

    await using gateway = await startGateway()
    const { text } = await gateway.send('GET', '/metrics', { as: '' })
    const sumOf = (metric: string) =>
      Number(new RegExp(`^${metric}_sum\\{service="measured",cost="ordinary"\\} (.*)$`, 'm').exec(text)![1])
    for (const metric of ['admission_wait_seconds', 'admission_work_seconds']) {
      expect(text).toContain(`${metric}_count{service="measured",cost="ordinary"} 2`)
      // The first works while the second waits: each metric has the time once.
      expect(sumOf(metric)).toBe(2)
    }
  })

  it('logs how long a request has waited, if it has, also if its caller leaves meanwhile', async () => {
    const waits = new Map<string, number | undefined>()
    const write = (line: string) => {
      const { method, route, status, waited_ms } = JSON.parse(line)
      waits.set(`${method} ${route} ${status}`, waited_ms)
    }
    const { gateway, received, waiting, release } = await startBlocked({
      maxRequests: 1,
      logger: pino({ level: 'info' }, { write }),
    })
    const first = gateway.send('GET', form)
    await received(1)
    const second = gateway.send('GET', `${form}/revisions/live`)
    const caller = new AbortController()
    const options = { headers: { 'x-api-key': gateway.key }, signal: caller.signal }
    const leaving = fetch(`${gateway.origin}${form}/revisions/latest`, options)
    await waiting(2)
    await delay(50)
    caller.abort()
    await expect(leaving).rejects.toThrow()
    release()
    await Promise.all([first, second])
    await gateway[Symbol.asyncDispose]()

    const route = 'GET /v2/organizations/:organizationRef/forms/:formRef'
    expect(waits.get(`${route} 200`)).toBeUndefined()
    for (const status of [200, 499])
      expect(waits.get(`${route}/revisions/:revisionRef ${status}`)).toBeGreaterThan(45)
  })

  it.each([
    ['POST', forms, { headers: json, body: '{}' }],
    ['GET', '/v2/organizations/acme/events/stream'],
  ])('authorizes a request again that has waited for more than a second: %s %s', async (...request) => {
    const { gateway: started, received, waiting, release } = await startBlocked({ maxRequests: 1 })
    await using gateway = started
    const first = gateway.send('GET', form)
    await received(1)
    const colleague = gateway.directory.createKey([gateway.organization])
    const [method, path, options] = request
    const revoked = gateway.send(method, path, { ...options, as: colleague })
    await waiting(1)
    gateway.directory.revoke(colleague)
    await delay(1_100)

    release()

    expect((await revoked).status).toBe(401)
    expect((await first).status).toBe(200)
    expect(gateway.forms.received).toHaveLength(1)
  })

  it('forgets a request whose caller leaves while it waits', async () => {
    const { gateway: started, received, waiting, release } = await startBlocked({ maxRequests: 1 })
    await using gateway = started
    const first = gateway.send('GET', form)
    await received(1)
    const caller = new AbortController()
    const options = { method: 'DELETE', headers: { 'x-api-key': gateway.key }, signal: caller.signal }
    const leaving = Array.from({ length: 5 }, () => fetch(gateway.origin + form, options))
    await waiting(4, 'expensive')
    await received(2)

    caller.abort()
    await Promise.allSettled(leaving)

    await waiting(0, 'expensive')
    expect(gateway.forms.received).toHaveLength(2)
    release()
    expect((await first).status).toBe(200)
  })

  it.each([
    ['GET', form],
    ['POST', forms],
  ])('keeps the seat of a request whose caller has gone until its work is done: %s', async (method, path) => {
    const { gateway: started, received, waiting, metric, release } = await startBlocked({ maxRequests: 1 })
    await using gateway = started
    const caller = new AbortController()
    const options = { method, headers: { 'x-api-key': gateway.key }, signal: caller.signal }
    const gone = fetch(gateway.origin + path, options)
    await received(1)
    caller.abort()
    await expect(gone).rejects.toThrow()

    const next = gateway.send('GET', form)
    await waiting(1)

    expect([await metric('ordinary', 'admitted'), gateway.forms.received.length]).toEqual([1, 1])
    release()
    expect((await next).status).toBe(200)
  })

  it('ends a list whose caller has gone', async () => {
    const { gateway: started, received, metric } = await startBlocked({ maxRequests: 1 })
    await using gateway = started
    const ended = Promise.withResolvers<void>()
    const { respond } = gateway.forms
    gateway.forms.respond = (request, reply) => {
      reply.raw.once('close', ended.resolve)
      return respond(request, reply)
    }
    const caller = new AbortController()
    const gone = fetch(gateway.origin + forms, {
      headers: { 'x-api-key': gateway.key },
      signal: caller.signal,
    })
    await received(1)

    caller.abort()
    await expect(gone).rejects.toThrow()

    await ended.promise
    await expect.poll(() => metric('ordinary', 'admitted')).toBe(0)
  })

  it('has no seat for a request whose body has not arrived', async () => {
    const { gateway: started, received, metric, release } = await startBlocked({ maxRequests: 1 })
    await using gateway = started
    const { hostname, port } = new URL(gateway.origin)
    const slow = connect({ host: hostname, port: Number(port) })
    await once(slow, 'connect')
    slow.write(
      `PATCH ${form} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\ncontent-type: application/json\r\n` +
        `content-length: 100000\r\n\r\n{`,
    )
    const held = async () => {
      const { text } = await gateway.send('GET', '/metrics', { as: '' })
      return Number(/^gateway_bytes_reserved\{of="requests"\} (\d+)/m.exec(text)![1])
    }
    await expect.poll(held).toBe(100_000)

    const others = gateway.send('GET', form)

    await received(1)
    expect([await metric('expensive', 'admitted'), await metric('expensive', 'waiting')]).toEqual([0, 0])
    release()
    expect((await others).status).toBe(200)
    slow.destroy()
    await expect.poll(held).toBe(0)
  })
})

describe('a list of an organization whose last one was not short', () => {
  it('has the smaller share, until one is short', async () => {
    await using gateway = await startGateway()
    gateway.forms.respond = (_, reply) => reply.type('application/json').send(' '.repeat(300_000))
    expect((await gateway.send('GET', forms)).status).toBe(200)
    const blocked: (() => void)[] = []
    gateway.forms.respond = () => new Promise((resolve) => blocked.push(() => resolve({})))

    const lists = [gateway.send('GET', forms), gateway.send('GET', forms)]
    const other = gateway.send('GET', form)

    await expect.poll(() => gateway.forms.received.map(({ url }) => url.split('/').length)).toEqual([4, 4, 5])
    for (const respond of blocked) respond()
    gateway.forms.respond = () => ({})
    expect(await statusesOf([...lists, other])).toEqual([200, 200, 200])
  })
})

describe('bodies over 16 KiB', () => {
  it('of one user that do not arrive leave memory to those of a colleague', async () => {
    await using gateway = await startGateway()
    const { hostname, port } = new URL(gateway.origin)
    const slow = Array.from({ length: 8 }, () => connect(Number(port), hostname).on('error', () => {}))
    for (const socket of slow)
      socket.write(
        `POST ${forms} HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n` +
          'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n',
      )
    const isAuthorized = () => gateway.directory.authorizeRequests.length > 0
    await expect.poll(isAuthorized).toBe(true)
    const as = gateway.directory.createKey([gateway.organization])

    const { status } = await gateway.send('POST', forms, { as, headers: json, body: long })

    for (const socket of slow) socket.destroy()
    expect(status).toBe(200)
  })

  it.each([
    ['POST', '/v2/keys'],
    ['POST', '/v2/sessions'],
    ['POST', `${form}/publish`],
    ['POST', `${form}/unpublish`],
    ['POST', `${form}/revisions/live/rollback`],
    ['POST', '/v2/organizations/acme/deletedForms/Ab3dE6gH9j/undelete'],
    ['DELETE', form],
  ])('are refused where no form is sent: %s %s', async (method, path) => {
    await using gateway = await startGateway()
    const body = JSON.stringify({ note: 'x'.repeat(16 * 1024) })

    const refused = await gateway.send(method, path, { headers: json, body })

    expect([refused.status, reasonOf(refused)]).toEqual([413, 'BODY_TOO_LARGE'])
    expect(gateway.forms.received).toEqual([])
  })
})
