import { identityHeader } from '@fms/contracts'
import { createIdentityVerifier } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { type Gateway, json, reasonOf, secret, startGateway } from './testing.ts'

const verify = createIdentityVerifier([secret])

/** The requests that organizations received, without those that authorize. */
const forwarded = ({ organizations }: Gateway) =>
  organizations.received
    .filter(({ url }) => url !== '/internal/authorize')
    .map(({ method, url, body, headers }) => ({
      line: `${method} ${url}`,
      body,
      identity: verify(String(headers[identityHeader])),
    }))

describe('the keys of a caller', () => {
  it.each([
    ['GET', '/whoami', undefined],
    ['GET', '/keys?pageSize=5', undefined],
    ['POST', '/keys', { key: { name: 'CI' } }],
    ['POST', '/keys/5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44/rotate', { overlapSeconds: 1 }],
    ['POST', '/keys/5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44/rotate', undefined],
    ['DELETE', '/keys/5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44?validateOnly=true', undefined],
  ])('are served by organizations: %s %s with the body %j', async (method, path, payload) => {
    await using gateway = await startGateway()
    const body = payload && JSON.stringify(payload)

    const response = await gateway.send(method, `/v2${path}`, body ? { headers: json, body } : {})

    expect(response.status).toBe(200)
    const { userId } = gateway.directory.userOf(gateway.key)
    expect(forwarded(gateway)).toEqual([
      {
        line: `${method} ${path}`,
        body: body ?? '',
        identity: expect.objectContaining({ userId, key: gateway.directory.actorKeyOf(gateway.key) }),
      },
    ])
  })

  it('stay as they are where the key of the request is read-only, before the body is checked', async () => {
    await using gateway = await startGateway()
    const reader = gateway.directory.createKey([], { readOnly: true })
    const other = '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44'
    const send = (method: string, path: string) =>
      gateway.send(method, path, { as: reader, headers: { 'content-type': 'text/plain' }, body: 'x' })

    for (const [method, path] of [
      ['POST', '/v2/keys'],
      ['POST', `/v2/keys/${other}/rotate`],
      ['DELETE', `/v2/keys/${other}`],
    ] as const) {
      const response = await send(method, path)
      expect([response.status, reasonOf(response)]).toEqual([403, 'WRITE_FORBIDDEN'])
    }
    expect(forwarded(gateway)).toEqual([])
  })

  it('include the read-only key of the request, which may rotate and revoke itself', async () => {
    await using gateway = await startGateway()
    const reader = gateway.directory.createKey([], { readOnly: true })
    const { keyId } = gateway.directory.userOf(reader)

    const rotated = await gateway.send('POST', `/v2/keys/${keyId.toUpperCase()}/rotate`, { as: reader })
    const deleted = await gateway.send('DELETE', `/v2/keys/${keyId}`, { as: reader })

    expect([rotated.status, deleted.status]).toEqual([200, 200])
  })

  it('keep their headers: no cache stores a secret', async () => {
    await using gateway = await startGateway()
    gateway.organizations.respond = (request, reply) =>
      request.url === '/keys'
        ? reply.header('cache-control', 'no-store').send({ secret: 'x' })
        : gateway.directory.respond(request, reply)

    const response = await gateway.send('POST', '/v2/keys', { headers: json, body: '{}' })

    expect(response.headers['cache-control']).toBe('no-store')
  })
})
