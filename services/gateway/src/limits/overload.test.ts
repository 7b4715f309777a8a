import { overloaded } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type GatewayTestOptions, json, reasonOf, startGateway, startLog } from '../testing.ts'

const forms = '/v2/organizations/acme/forms'
const revisions = `${forms}/Ab3dE6gH9j/revisions`

/** A gateway whose forms service answers nothing until it is let go. */
const startBusy = async (options: GatewayTestOptions = {}) => {
  const gateway = await startGateway({ maxRequests: 3, ...options })
  const letGo = Promise.withResolvers<void>()
  gateway.forms.answer = async () => {
    await letGo.promise
    return { from: 'forms' }
  }
  // Of one organization there may only be half as many.
  const strangers = Array.from({ length: 3 }, () => gateway.stranger())
  const waiting = strangers.map((as) => gateway.send('GET', revisions, { as }))
  await expect.poll(() => gateway.forms.received.length).toBe(3)
  return Object.assign(gateway, { letGo: letGo.resolve, waiting })
}

describe('a service with as much under way as it may have', () => {
  it('is asked nothing more, and the caller told so at once', async () => {
    await using gateway = await startBusy()

    const refused = await gateway.send('POST', forms, { headers: json, body: '{"form":{}}' })

    expect([refused.status, reasonOf(refused)]).toEqual([503, 'OVERLOADED'])
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' })
    expect(refused.json().error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.RequestInfo',
      requestId: refused.headers['x-request-id'],
    })
    // Not even whose key it is was looked up.
    expect(reasonOf(await gateway.send('GET', forms, { as: 'wrong' }))).toBe('OVERLOADED')
    expect(gateway.forms.received).toHaveLength(3)
    gateway.letGo()
    expect((await Promise.all(gateway.waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await gateway.send('GET', forms)).status).toBe(200)
  })

  it('has its refusals counted, and one line in the log for all of a second', async () => {
    const log = startLog()
    await using gateway = await startBusy({ logger: log.logger })
    const metric = async (series: string) => {
      const { text } = await gateway.send('GET', '/metrics', { as: '' })
      const line = text.split('\n').find((each) => each.startsWith(`${series} `))
      return Number(line?.split(' ')[1] ?? 0)
    }
    const refusals = 'http_error_responses_total{reason="OVERLOADED"}'
    const answers =
      'http_request_duration_seconds_count{method="GET",route="/v2/organizations/:organizationRef/forms",status="503"}'
    const before = [await metric(refusals), await metric(answers), await metric('http_requests_in_flight')]
    const told = log.line('requests were refused')

    for (let i = 0; i < 5; i++) await gateway.send('GET', forms)
    await told

    const after = [await metric(refusals), await metric(answers), await metric('http_requests_in_flight')]
    expect(after).toEqual([before[0]! + 5, before[1]! + 5, before[2]])
    expect(log.lines.filter(({ msg }) => msg.includes('refused'))).toHaveLength(1)
    gateway.letGo()
    await Promise.all(gateway.waiting)
  })

  it('answers HEAD without a body, and the next request on the same connection', async () => {
    await using gateway = await startBusy()

    const head = await gateway.send('HEAD', forms)
    expect([head.status, head.text, head.headers['retry-after']]).toEqual([503, '', '1'])
    const body = JSON.stringify({ form: { name: 'x'.repeat(100_000) } })
    for (let i = 0; i < 2; i++)
      expect((await gateway.send('POST', forms, { headers: json, body })).status).toBe(503)
    gateway.letGo()
    await Promise.all(gateway.waiting)
  })

  it('takes nothing from the others, and the probes are answered', async () => {
    await using gateway = await startBusy()

    expect((await gateway.send('GET', '/v2/organizations')).status).toBe(200)
    // Publishing has a bound of its own; here NATS is away.
    const publish = await gateway.send('POST', `${forms}/Ab3dE6gH9j/publish`, { headers: json, body: '{}' })
    expect(reasonOf(publish)).toBe('PUBLISHING_UNAVAILABLE')
    for (const probe of ['/healthz', '/readyz', '/metrics'])
      expect((await gateway.send('GET', probe, { as: '' })).status).toBe(200)
    gateway.letGo()
    await Promise.all(gateway.waiting)
  })

  it('has room again for callers who went away', async () => {
    await using gateway = await startGateway({ maxRequests: 1 })
    const arrived = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    gateway.forms.answer = async () => {
      arrived.resolve()
      await letGo.promise
      return {}
    }
    const impatient = new AbortController()
    const gone = fetch(gateway.origin + forms, {
      headers: { 'x-api-key': gateway.key },
      signal: impatient.signal,
    })
    await arrived.promise
    impatient.abort()
    await expect(gone).rejects.toThrow()
    letGo.resolve()

    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('has room for callers who went away before anybody knew them', async () => {
    const log = startLog()
    await using gateway = await startGateway({ maxRequests: 1, logger: log.logger })
    const asked = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const { answer } = gateway.organizations
    gateway.organizations.answer = async (request, reply) => {
      asked.resolve()
      await letGo.promise
      return answer(request, reply)
    }
    const impatient = new AbortController()
    const gone = fetch(gateway.origin + forms, {
      headers: { 'x-api-key': gateway.key },
      signal: impatient.signal,
    })
    const told = log.line('client disconnected')
    await asked.promise
    impatient.abort()
    await expect(gone).rejects.toThrow()
    await told
    letGo.resolve()

    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('is not sent more and more writes of callers who go away', async () => {
    const log = startLog()
    await using gateway = await startGateway({ maxRequests: 3, logger: log.logger })
    const letGo = Promise.withResolvers<object>()
    gateway.forms.answer = () => letGo.promise
    const impatient = new AbortController()
    const leaving = Array.from({ length: 3 }, () =>
      fetch(gateway.origin + forms, {
        method: 'POST',
        headers: { ...json, 'x-api-key': gateway.stranger() },
        body: '{}',
        signal: impatient.signal,
      }),
    )
    await expect.poll(() => gateway.forms.received.length).toBe(3)
    impatient.abort()
    await Promise.allSettled(leaving)
    // The door has room again from here on.
    await expect.poll(() => log.lines.filter(({ msg }) => msg === 'client disconnected').length).toBe(3)

    const answer = await gateway.send('GET', forms)

    expect([answer.status, reasonOf(answer)]).toEqual([503, 'OVERLOADED'])
    expect(gateway.forms.received).toHaveLength(3)
    letGo.resolve({})
    await expect.poll(async () => (await gateway.send('GET', forms)).status).toBe(200)
  })

  it('is not taken for one that is away', async () => {
    const log = startLog()
    await using gateway = await startGateway({ logger: log.logger })
    const { parts, ...error } = overloaded()
    gateway.forms.answer = (_, reply) =>
      reply
        .code(503)
        .headers(parts.headers ?? {})
        .send(error)

    for (let i = 0; i < 20; i++) await gateway.send('GET', forms)

    expect(gateway.forms.received).toHaveLength(20)
    expect(log.lines.filter(({ msg }) => msg.startsWith('circuit open'))).toEqual([])
  })
})
