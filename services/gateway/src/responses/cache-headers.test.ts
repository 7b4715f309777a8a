import { describe, expect, it } from 'vitest'
import { json, startGateway } from '../testing.ts'

const forms = '/v2/organizations/acme/forms'
const form = `${forms}/Ab3dE6gH9j`

describe('the cache headers', () => {
  it.each([
    ['GET', '/v2/organizations'],
    ['GET', '/v2/organizations/acme'],
    ['HEAD', forms],
    ['POST', forms],
    ['GET', form],
    ['PATCH', form],
    ['DELETE', form],
    ['GET', `${form}/revisions/live`],
  ])('of %s %s allow only a private cache', async (method, path) => {
    await using gateway = await startGateway()
    const body = method === 'POST' || method === 'PATCH' ? { headers: json, body: '{}' } : {}

    const { status, headers } = await gateway.send(method, path, body)

    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'x-api-key' })
  })

  it.each([
    [400, 'GET', '/v2/docs?x=1', {}],
    [401, 'GET', forms, { as: '' }],
    [401, 'GET', '/v2/nothing', { as: '' }],
    [404, 'GET', '/nothing', {}],
    [404, 'GET', '/v2/nothing', {}],
    [404, 'GET', '/v2/organizations/nobodys/forms', {}],
    [405, 'PUT', form, {}],
    [413, 'POST', forms, { headers: json, body: 'x'.repeat(2_000_000) }],
    [415, 'POST', forms, { headers: { 'content-type': 'text/plain' }, body: '{}' }],
    [400, 'POST', `${form}/publish`, { headers: json, body: '{' }],
    [503, 'POST', `${form}/publish`, { headers: json, body: '{}' }],
  ])('of a %i to %s %s forbid caching', async (status, method, path, options) => {
    await using gateway = await startGateway()

    const rejected = await gateway.send(method, path, options)

    expect(rejected.status).toBe(status)
    expect(rejected.headers['cache-control']).toBe('no-store')
  })

  it('of an error of an unavailable service forbid caching', async () => {
    await using gateway = await startGateway()
    await gateway.forms.stop()

    for (const path of [forms, '/readyz']) {
      const rejected = await gateway.send('GET', path)
      expect([rejected.status, rejected.headers['cache-control']]).toEqual([503, 'no-store'])
    }
  })
})
