import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { Agent } from 'undici'
import { expect, it } from 'vitest'
import { startGateway } from './testing.ts'

const forms = '/v2/organizations/acme/forms'

/** A gateway and the lines that it logs. */
const startLogging = async () => {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  return {
    gateway: await startGateway({ logger }),
    of: (id: string) => lines.filter((line) => line.request_id === id),
  }
}

it('says once of each request who asked for what, and how it ended', async () => {
  const { gateway: started, of } = await startLogging()
  await using gateway = started
  const { userId } = gateway.directory.user(gateway.key)

  await gateway.send('GET', `${forms}?pageSize=1`, { headers: { 'x-request-id': 'read' } })
  await gateway.send('GET', forms, { as: 'fms_wrong', headers: { 'x-request-id': 'stranger' } })
  await gateway.send('PUT', '/v2/nothing', { headers: { 'x-request-id': 'nowhere' } })

  expect(of('read')).toEqual([
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
  expect(of('stranger')).toMatchObject([{ msg: 'request completed', status: 401 }])
  expect(of('nowhere')).toMatchObject([{ msg: 'request completed', status: 404 }])
})

it('the question whose key it is goes under the same id', async () => {
  const { gateway: started } = await startLogging()
  await using gateway = started

  await gateway.send('GET', forms, { headers: { 'x-request-id': 'mine' } })

  const asked = [...gateway.organizations.received, ...gateway.forms.received]
  expect(asked.map(({ url, headers }) => [url, headers['x-request-id']])).toEqual([
    ['/internal/authorize', 'mine'],
    [expect.stringContaining('/forms'), 'mine'],
  ])
})

it('a failure has one more line, with its cause', async () => {
  const { gateway: started, of } = await startLogging()
  await using gateway = started
  await gateway.forms.stop()

  await gateway.send('GET', forms, { headers: { 'x-request-id': 'failed' } })

  expect(of('failed')).toMatchObject([
    { level: 50, reason: 'UPSTREAM_UNAVAILABLE', err: expect.anything() },
    { level: 30, msg: 'request completed', status: 503 },
  ])
})

it('a caller that goes away before its answer has a line, too', async () => {
  const { gateway: started, of } = await startLogging()
  await using gateway = started
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  gateway.forms.answer = async () => {
    asked.resolve()
    await answer.promise
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
  await asked.promise
  await client.destroy()

  await expect.poll(() => of('gone')).toMatchObject([{ msg: 'client disconnected', status: 499 }])
  answer.resolve()
  await gateway.send('GET', '/v2/organizations/acme')
  await delay(20)
  expect(of('gone')).toHaveLength(1)
})
