import { randomUUID } from 'node:crypto'
import { IssuedKey } from '@fms/contracts'
import { API_KEY_PATTERN, hashSecret } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { type Caller, type OrganizationsService, startOrganizations } from '../testing.ts'

const create = ({ send }: OrganizationsService, { identity }: Caller, payload: object) =>
  send(identity, { method: 'POST', url: '/keys', payload })

const inAnHour = '2026-11-20T10:30:00.000Z'

describe('POST /keys', () => {
  it('creates a key of the caller and shows its secret', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await create(service, caller, {
      key: { name: 'CI', readOnly: true, expireTime: '2026-11-20t12:30:00+02:00' },
    })

    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    const { key, secret } = IssuedKey.parse(response.json())
    expect(secret).toMatch(API_KEY_PATTERN)
    expect(key).toEqual({
      path: expect.stringMatching(/^keys\//),
      name: 'CI',
      prefix: secret.slice(4, 12),
      readOnly: true,
      createTime: service.clock.now.toISOString(),
      lastUsedTime: '',
      expireTime: inAnHour,
      current: false,
    })
    const authorization = await service.directory.authorize(
      { keyHash: hashSecret(secret) },
      service.clock.now,
    )
    expect(authorization?.key).toMatchObject({ userId: caller.userId, readOnly: true })
  })

  it('accepts a key as a client has read it, and ignores the fields that the service sets', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const { key } = (await create(service, caller, { key: { name: 'first' } })).json()

    const again = await create(service, caller, { key })

    expect(again.statusCode).toBe(200)
    expect(again.json().key.path).not.toBe(key.path)
  })

  it('stores nothing with validateOnly', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await create(service, caller, { key: { name: 'CI' }, validateOnly: true })

    expect(IssuedKey.parse(response.json())).toMatchObject({
      key: { path: 'keys/00000000-0000-0000-0000-000000000000', name: 'CI', prefix: '' },
      secret: '',
    })
    expect(await service.directory.listKeys()).toHaveLength(1)
  })

  it('creates no second key for a requestId, and names the first one', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const payload = { key: { name: 'CI' }, requestId: randomUUID() }
    const { key } = (await create(service, caller, payload)).json()

    const again = await create(service, caller, payload)

    expect(again.statusCode).toBe(409)
    expect(again.json().error).toMatchObject({
      status: 'ALREADY_EXISTS',
      details: [
        { reason: 'KEY_ALREADY_CREATED', metadata: { requestId: payload.requestId, key: key.path } },
        {},
      ],
    })
    expect(await service.directory.listKeys()).toHaveLength(2)
  })

  it('rejects a read-only key', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ readOnly: true })

    const response = await create(service, caller, { key: { name: 'CI', readOnly: true } })

    expect(response.statusCode).toBe(403)
    expect(response.json().error).toMatchObject({
      status: 'PERMISSION_DENIED',
      details: [{ reason: 'WRITE_FORBIDDEN', metadata: { because: 'key' } }, {}],
    })
    expect(await service.directory.listKeys()).toHaveLength(1)
  })

  it.each([[undefined], [''], ['2026-11-20T10:30:00.001Z']])(
    'rejects the expireTime %j of a key that would outlive the key of the request',
    async (expireTime) => {
      await using service = await startOrganizations()
      const caller = await service.given.caller({ expireTime: new Date(inAnHour) })

      const response = await create(service, caller, { key: { name: 'CI', expireTime } })

      expect(response.statusCode).toBe(400)
      expect(response.json().error).toMatchObject({
        status: 'INVALID_ARGUMENT',
        details: [
          { reason: 'KEY_OUTLIVES_CALLER', metadata: { expireTime: inAnHour } },
          { fieldViolations: [{ field: 'key.expireTime', description: `must not be after ${inAnHour}` }] },
          {},
        ],
      })
      expect(await service.directory.listKeys()).toHaveLength(1)
    },
  )

  it('lets a key that expires create keys that expire with it', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ expireTime: new Date(inAnHour) })

    const response = await create(service, caller, { key: { name: 'CI', expireTime: inAnHour } })

    expect(response.statusCode).toBe(200)
  })

  it('accepts the last time of RFC 3339, and accepts it again as it was read', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const expireTime = '9999-12-31T23:59:59.999Z'

    const { key } = (await create(service, caller, { key: { name: 'CI', expireTime } })).json()

    expect(key.expireTime).toBe(expireTime)
    expect((await create(service, caller, { key })).statusCode).toBe(200)
  })

  it.each([
    [{}, ['key']],
    [{ key: {} }, ['key.name']],
    [{ key: { name: '' } }, ['key.name']],
    [{ key: { name: 'x'.repeat(81) } }, ['key.name']],
    [{ key: { name: ' ' } }, ['key.name']],
    [{ key: { name: '\t\n\u0085\u00a0' } }, ['key.name']],
    [{ key: { name: 'x', expireTime: '2026-11-20T09:30:00.000Z' } }, ['key.expireTime']],
    [{ key: { name: 'x', expireTime: '2126-02-30T00:00:00Z' } }, ['key.expireTime']],
    [{ key: { name: 'x', expireTime: '2126-02-01T00:00Z' } }, ['key.expireTime']],
    [{ key: { name: 'x', expireTime: '2126-02-01T00:00:00' } }, ['key.expireTime']],
    [{ key: { name: 'x', expireTime: '9999-12-31T23:59:59-23:00' } }, ['key.expireTime']],
    [
      { key: { name: 1, readOnly: 'no', nmae: 'x' }, validateonly: true, requestId: 'x' },
      ['key.name', 'key.nmae', 'key.readOnly', 'requestId', 'validateonly'],
    ],
  ])('reports the violations in %j', async (payload, fields) => {
    await using service = await startOrganizations()
    const response = await create(service, await service.given.caller(), payload)

    expect(response.statusCode).toBe(400)
    const violations = response.json().error.details[1].fieldViolations
    expect(violations.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
  })

  it('rejects more keys than a user may have', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    for (let count = 1; count < 100; count++) await service.given.key({ userId: caller.userId })

    const response = await create(service, caller, { key: { name: 'CI' } })

    expect(response.statusCode).toBe(400)
    expect(response.json().error).toMatchObject({
      status: 'FAILED_PRECONDITION',
      details: [{ reason: 'TOO_MANY_KEYS', metadata: { limit: '100' } }, {}],
    })
  })

  it('rejects a key that was revoked during the request', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    await service.directory.revokeKey(caller.keyId)

    const response = await create(service, caller, { key: { name: 'CI' } })

    expect(response.statusCode).toBe(401)
    expect(response.json().error.details[0]).toMatchObject({ reason: 'API_KEY_INVALID' })
    expect(await service.directory.listKeys()).toHaveLength(1)
  })
})
