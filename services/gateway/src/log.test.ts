import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Agent } from 'undici'
import { expect, it } from 'vitest'
import { startGateway } from './testing.ts'

const forms = '/v2/organizations/acme/forms'

/** A gateway and the lines that it logs. */
const startLogging = async (level = 'info') => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level }, { write: (line) => lines.push(JSON.parse(line)) })
  return {
    gateway: await startGateway({ logger }),
    linesOf: (id: string) => lines.filter((line) => line.request_id === id),
  }
}

it('has one line for each request with its caller, route and status', async () => {
  const { gateway: started, linesOf } = await startLogging()
  await using gateway = started
  const { userId } = gateway.directory.userOf(gateway.key)

  await gateway.send('GET', `${forms}?pageSize=1`, { headers: { 'x-request-id': 'read' } })
  await gateway.send('GET', forms, { as: 'fms_wrong', headers: { 'x-request-id': 'stranger' } })
  await gateway.send('PUT', '/v2/nothing', { headers: { 'x-request-id': 'nowhere' } })

  expect(linesOf('read')).toEqual([
    expect.objectContaining({
      level: 30,
      msg: 'request completed',
      method: 'GET',
      route: '/v2/organizations/:organizationRef/forms',
      status: 200,
      duration_ms: expect.any(Number),
      user: userId,
      organization: gateway.organization.organizationId,
    }),
  ])
  expect(linesOf('stranger')).toMatchObject([{ msg: 'request completed', status: 401 }])
  expect(linesOf('nowhere')).toMatchObject([{ msg: 'request completed', status: 404 }])
})

it('the authorize request has the same request id', async () => {
  const { gateway: started } = await startLogging()
  await using gateway = started

  await gateway.send('GET', forms, { headers: { 'x-request-id': 'mine' } })

  // A request that has waited for a second is authorized again.
  const requests = [...gateway.organizations.received, ...gateway.forms.received]
  const urls = ['/internal/authorize', expect.stringContaining('/forms')]
  expect(requests.map(({ url }) => url)).toEqual(expect.arrayContaining(urls))
  expect(new Set(requests.map(({ headers }) => headers['x-request-id']))).toEqual(new Set(['mine']))
})

it('a failure of a service has another line at level debug, with its cause', async () => {
  const { gateway: started, linesOf } = await startLogging('debug')
  await using gateway = started
  await gateway.forms.stop()

  await gateway.send('GET', forms, { headers: { 'x-request-id': 'failed' } })

  expect(linesOf('failed')).toMatchObject([
    { level: 20, reason: 'UPSTREAM_UNAVAILABLE', cause: expect.any(String) },
    { level: 30, msg: 'request completed', status: 503 },
  ])
})

it('a request whose caller disconnects has one line', async () => {
  const { gateway: started, linesOf } = await startLogging()
  await using gateway = started
  const received = Promise.withResolvers<void>()
  const blocked = Promise.withResolvers<void>()
  gateway.forms.respond = async () => {
    received.resolve()
    await blocked.promise
    return {}
  }
  const client = new Agent()
  const request = client.request({
    origin: gateway.origin,
    path: forms,
    method: 'GET',
    headers: { 'x-api-key': gateway.key, 'x-request-id': 'gone' },
  })
  request.catch(() => {})
  await received.promise
  await client.destroy()

  await expect.poll(() => linesOf('gone')).toMatchObject([{ msg: 'client disconnected', status: 499 }])
  blocked.resolve()
  await gateway.send('GET', '/v2/organizations/acme')
  await delay(20)
  expect(linesOf('gone')).toHaveLength(1)
})
