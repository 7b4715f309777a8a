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
