import { overloaded } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type GatewayTestOptions, json, reasonOf, startGateway, startLog } from '../testing.ts'

const forms = '/v2/organizations/acme/forms'
const revisions = `${forms}/Ab3dE6gH9j/revisions`

/** A gateway with three requests in flight, to which forms responds when the test calls `release`. */
const startOverloaded = async (options: GatewayTestOptions = {}) => {
  const gateway = await startGateway({ maxRequests: 3, ...options })
  const blocked = Promise.withResolvers<void>()
  gateway.forms.respond = async () => {
    await blocked.promise
    return { from: 'forms' }
  }
  // One organization may only have half of them.
  const strangers = Array.from({ length: 3 }, () => gateway.createStrangerKey())
  const waiting = strangers.map((as) => gateway.send('GET', revisions, { as }))
  await expect.poll(() => gateway.forms.received.length).toBe(3)
  return Object.assign(gateway, { release: blocked.resolve, waiting })
}

describe('a service with its maximum of requests in flight', () => {
  it('gets no further request, and the caller gets a 503 immediately', async () => {
    await using gateway = await startOverloaded()

    const rejected = await gateway.send('POST', forms, { headers: json, body: '{"form":{}}' })

    expect([rejected.status, reasonOf(rejected)]).toEqual([503, 'OVERLOADED'])
    expect(rejected.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' })
    expect(rejected.json().error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.RequestInfo',
      requestId: rejected.headers['x-request-id'],
    })
    // Rejected before the key is looked up.
    expect(reasonOf(await gateway.send('GET', forms, { as: 'wrong' }))).toBe('OVERLOADED')
    expect(gateway.forms.received).toHaveLength(3)
    gateway.release()
    expect((await Promise.all(gateway.waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await gateway.send('GET', forms)).status).toBe(200)
  })

  it('has its rejections counted, and one log line for all of them in a second', async () => {
    const log = startLog()
    await using gateway = await startOverloaded({ logger: log.logger })
    const metric = async (series: string) => {
      const { text } = await gateway.send('GET', '/metrics', { as: '' })
      const line = text.split('\n').find((each) => each.startsWith(`${series} `))
      return Number(line?.split(' ')[1] ?? 0)
    }
    const rejections = 'http_error_responses_total{reason="OVERLOADED"}'
    const responses =
      'http_request_duration_seconds_count{method="GET",route="/v2/organizations/:organizationRef/forms",status="503"}'
    const before = [
      await metric(rejections),
      await metric(responses),
      await metric('http_requests_in_flight'),
    ]
    const logged = log.line('requests were refused')

    for (let i = 0; i < 5; i++) await gateway.send('GET', forms)
    await logged

    const after = [await metric(rejections), await metric(responses), await metric('http_requests_in_flight')]
    expect(after).toEqual([before[0]! + 5, before[1]! + 5, before[2]])
    expect(log.lines.filter(({ msg }) => msg.includes('refused'))).toHaveLength(1)
    gateway.release()
    await Promise.all(gateway.waiting)
  })

  it('causes a 503 without a body for HEAD, and the connection serves further requests', async () => {
    await using gateway = await startOverloaded()

    const head = await gateway.send('HEAD', forms)
    expect([head.status, head.text, head.headers['retry-after']]).toEqual([503, '', '1'])
    const body = JSON.stringify({ form: { name: 'x'.repeat(100_000) } })
    for (let i = 0; i < 2; i++)
      expect((await gateway.send('POST', forms, { headers: json, body })).status).toBe(503)
    gateway.release()
    await Promise.all(gateway.waiting)
  })

  it('does not affect other services and probes', async () => {
    await using gateway = await startOverloaded()

    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    // Publishing has its own limit; NATS is not connected here.
    const publish = await gateway.send('POST', `${forms}/Ab3dE6gH9j/publish`, { headers: json, body: '{}' })
    expect(reasonOf(publish)).toBe('PUBLISHING_UNAVAILABLE')
    for (const probe of ['/healthz', '/readyz', '/metrics'])
      expect((await gateway.send('GET', probe, { as: '' })).status).toBe(200)
    gateway.release()
    await Promise.all(gateway.waiting)
  })

  it('has capacity again after its caller has disconnected', async () => {
    await using gateway = await startGateway({ maxRequests: 1 })
    const received = Promise.withResolvers<void>()
    const blocked = Promise.withResolvers<void>()
    gateway.forms.respond = async () => {
      received.resolve()
      await blocked.promise
      return {}
    }
    const caller = new AbortController()
    const aborted = fetch(gateway.origin + forms, {
      headers: { 'x-api-key': gateway.key },
      signal: caller.signal,
    })
    await received.promise
    caller.abort()
    await expect(aborted).rejects.toThrow()
    blocked.resolve()

    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('has capacity again after a caller has disconnected during authentication', async () => {
    const log = startLog()
    await using gateway = await startGateway({ maxRequests: 1, logger: log.logger })
    const received = Promise.withResolvers<void>()
    const blocked = Promise.withResolvers<void>()
    const { respond } = gateway.organizations
    gateway.organizations.respond = async (request, reply) => {
      received.resolve()
      await blocked.promise
      return respond(request, reply)
    }
    const caller = new AbortController()
    const aborted = fetch(gateway.origin + forms, {
      headers: { 'x-api-key': gateway.key },
      signal: caller.signal,
    })
    const logged = log.line('client disconnected')
    await received.promise
    caller.abort()
    await expect(aborted).rejects.toThrow()
    await logged
    blocked.resolve()

    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('receives no further writes of callers that disconnect', async () => {
    const log = startLog()
    await using gateway = await startGateway({ maxRequests: 3, logger: log.logger })
    const blocked = Promise.withResolvers<object>()
    gateway.forms.respond = () => blocked.promise
    const caller = new AbortController()
    const leaving = Array.from({ length: 3 }, () =>
      fetch(gateway.origin + forms, {
        method: 'POST',
        headers: { ...json, 'x-api-key': gateway.createStrangerKey() },
        body: '{}',
        signal: caller.signal,
      }),
    )
    await expect.poll(() => gateway.forms.received.length).toBe(3)
    caller.abort()
    await Promise.allSettled(leaving)
    // From here on the gateway accepts requests again.
    await expect.poll(() => log.lines.filter(({ msg }) => msg === 'client disconnected').length).toBe(3)

    const response = await gateway.send('GET', forms)

    expect([response.status, reasonOf(response)]).toEqual([503, 'OVERLOADED'])
    expect(gateway.forms.received).toHaveLength(3)
    blocked.resolve({})
    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('does not open its circuit when it sheds load', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    const { parts, ...error } = overloaded()
    gateway.forms.respond = (_, reply) =>
      reply
        .code(503)
        .headers(parts.headers ?? {})
        .send(error)

    for (let i = 0; i < 20; i++) await gateway.send('GET', forms)

    expect(gateway.forms.received).toHaveLength(20)
    expect(log.lines.filter(({ msg }) => msg.startsWith('circuit open'))).toEqual([])
  })
})
