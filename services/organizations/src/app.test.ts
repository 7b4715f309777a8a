import { describe, expect, it } from 'vitest'
import { startOrganizations } from './testing.ts'

describe('the organizations service', () => {
  it('is ready while its store is reachable', async () => {
    await using service = await startOrganizations()
    expect((await service.app.inject('/readyz')).statusCode).toBe(200)

    await service.directory.close()

    expect((await service.app.inject('/readyz')).statusCode).toBe(503)
    expect((await service.app.inject('/healthz')).statusCode).toBe(200)
  })

  it('responds with UNAVAILABLE while its store is not reachable', async () => {
    await using service = await startOrganizations()
    const userId = await service.given.user()
    await service.directory.close()

    const response = await service.get(userId, '/organizations')

    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('1')
    expect(response.json().error.details[0]).toMatchObject({ reason: 'STORE_UNAVAILABLE' })
  })

  it.each([
    ['POST', '/keys', { key: { name: 'CI' } }],
    ['POST', '/keys/{other}/rotate', {}],
    ['DELETE', '/keys/{other}', {}],
  ] as const)('rejects %s %s with a key that has just become read-only', async (method, url, payload) => {
    await using service = await startOrganizations()
    const { directory, given, send } = service
    const caller = await given.caller()
    const other = await given.key({ userId: caller.userId })
    await directory.updateKey(caller.keyId, { readOnly: true })

    // The identity is that of the gateway, which caches it.
    const path = url.replace('{other}', other.apiKey.keyId)
    const response = await send(caller.identity, { method, url: path, payload })

    expect(response.json().error.details[0]).toMatchObject({ reason: 'WRITE_FORBIDDEN' })
    expect(await directory.listKeys()).toHaveLength(2)
  })

  it.each([
    ['POST', '/organizations', 'GET, HEAD'],
    ['DELETE', '/organizations/acme', 'GET, HEAD'],
    ['GET', '/internal/authorize', 'POST'],
  ] as const)('rejects %s %s with 405', async (method, url, allow) => {
    await using service = await startOrganizations()
    const response = await service.app.inject({ method, url })

    expect(response.statusCode).toBe(405)
    expect(response.headers.allow).toBe(allow)
  })
})
