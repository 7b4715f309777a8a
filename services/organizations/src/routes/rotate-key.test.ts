import { randomUUID } from 'node:crypto'
import { IssuedKey } from '@fms/contracts'
import { hashSecret } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { type Caller, type OrganizationsService, startOrganizations } from '../testing.ts'

const rotate = ({ send }: OrganizationsService, { identity }: Caller, keyId: string, payload?: object) =>
  send(identity, { method: 'POST', url: `/keys/${keyId}/rotate`, ...(payload && { payload }) })

const works = async ({ directory, clock }: OrganizationsService, key: string, afterMs = 0) =>
  (await directory.authorize({ keyHash: hashSecret(key) }, new Date(clock.now.getTime() + afterMs))) !==
  undefined

describe('POST /keys/{key_id}/rotate', () => {
  it('replaces the key of the request and revokes it', async () => {
    await using service = await startOrganizations()
    const expireTime = new Date(service.clock.now.getTime() + 3_600_000)
    const caller = await service.given.caller({ name: 'CI', readOnly: true, expireTime })

    const response = await rotate(service, caller, caller.keyId.toUpperCase())

    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    const { key, secret } = IssuedKey.parse(response.json())
    expect(key).toMatchObject({ name: 'CI', readOnly: true, expireTime: expireTime.toISOString() })
    expect([await works(service, caller.key), await works(service, secret)]).toEqual([false, true])
  })

  it('keeps the old key for the overlap', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const old = await service.given.key({ userId: caller.userId })

    const response = await rotate(service, caller, old.apiKey.keyId, { overlapSeconds: 604_800 })

    expect(response.statusCode).toBe(200)
    expect([await works(service, old.key, 604_799_999), await works(service, old.key, 604_800_000)]).toEqual([
      true,
      false,
    ])
  })

  it('creates no second key for a requestId, and names the first one', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const old = await service.given.key({ userId: caller.userId })
    const payload = { requestId: randomUUID() }
    const { key } = (await rotate(service, caller, old.apiKey.keyId, payload)).json()

    const again = await rotate(service, caller, old.apiKey.keyId, payload)

    expect(again.statusCode).toBe(409)
    expect(again.json().error).toMatchObject({
      status: 'ALREADY_EXISTS',
      details: [{ reason: 'KEY_ALREADY_CREATED', metadata: { ...payload, key: key.path } }, {}],
    })
    expect(
      (await service.directory.listOwnKeys({ userId: caller.userId, limit: 9, skip: 0 })).totalSize,
    ).toBe(2)
  })

  it('changes nothing with validateOnly', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ name: 'CI' })

    const response = await rotate(service, caller, caller.keyId, { validateOnly: true })

    expect(IssuedKey.parse(response.json())).toMatchObject({ key: { name: 'CI', prefix: '' }, secret: '' })
    expect(await works(service, caller.key)).toBe(true)
    expect(await service.directory.listKeys()).toHaveLength(1)
  })

  it('lets a read-only key rotate only itself', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ readOnly: true })
    const other = await service.given.key({ userId: caller.userId, readOnly: true })

    for (const keyId of [other.apiKey.keyId, randomUUID()]) {
      const response = await rotate(service, caller, keyId)

      expect(response.statusCode).toBe(403)
      expect(response.json().error.details[0]).toMatchObject({ reason: 'WRITE_FORBIDDEN' })
    }
    expect((await rotate(service, caller, caller.keyId)).json().key.readOnly).toBe(true)
  })

  it.each([{}, { validateOnly: true }])('lets a read-only key keep no overlap, with %o', async (options) => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ readOnly: true })

    const response = await rotate(service, caller, caller.keyId, { overlapSeconds: 1, ...options })

    expect(response.statusCode).toBe(403)
    expect(response.json().error).toMatchObject({
      status: 'PERMISSION_DENIED',
      message: expect.stringContaining('overlapSeconds to 0'),
      details: [{ reason: 'WRITE_FORBIDDEN', metadata: { because: 'key' } }, {}],
    })
    expect(await service.directory.listKeys()).toHaveLength(1)
  })

  it('lets a key that may write keep an overlap for a read-only key', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const old = await service.given.key({ userId: caller.userId, readOnly: true })

    const response = await rotate(service, caller, old.apiKey.keyId, { overlapSeconds: 60 })

    expect(response.json().key.readOnly).toBe(true)
    expect(await works(service, old.key)).toBe(true)
  })

  it('keeps no overlap that would need a 101st key', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    for (let count = 1; count < 100; count++) await service.given.key({ userId: caller.userId })

    const response = await rotate(service, caller, caller.keyId, { overlapSeconds: 1 })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[0]).toMatchObject({ reason: 'TOO_MANY_KEYS' })
    expect((await rotate(service, caller, caller.keyId)).statusCode).toBe(200)
  })

  it('does not let a key that expires rotate a key that works for longer', async () => {
    await using service = await startOrganizations()
    const expireTime = new Date(service.clock.now.getTime() + 1000)
    const caller = await service.given.caller({ expireTime })
    const lasting = await service.given.key({ userId: caller.userId })
    const shorter = await service.given.key({ userId: caller.userId, expireTime })

    const response = await rotate(service, caller, lasting.apiKey.keyId)

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details).toMatchObject([
      { reason: 'KEY_OUTLIVES_CALLER', metadata: { expireTime: expireTime.toISOString() } },
      { '@type': 'type.googleapis.com/google.rpc.RequestInfo' },
    ])
    expect(await works(service, lasting.key)).toBe(true)
    expect((await rotate(service, caller, shorter.apiKey.keyId)).statusCode).toBe(200)
  })

  it('finds no key of another user, no revoked or expired key, and no unknown key', async () => {
    await using service = await startOrganizations()
    const [caller, stranger] = [await service.given.caller(), await service.given.caller()]
    const revoked = await service.given.key({ userId: caller.userId })
    await service.directory.revokeKey(revoked.apiKey.keyId)

    for (const keyId of [stranger.keyId, revoked.apiKey.keyId, randomUUID(), 'nonsense']) {
      const response = await rotate(service, caller, keyId)

      expect(response.statusCode).toBe(404)
      expect(response.json().error.details[0]).toMatchObject({
        reason: 'KEY_NOT_FOUND',
        metadata: { key: `keys/${keyId}` },
      })
    }
    expect(await works(service, stranger.key)).toBe(true)
  })

  it.each([-1, 0.5, 604_801, '1', null])('rejects an overlap of %j', async (overlapSeconds) => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await rotate(service, caller, caller.keyId, { overlapSeconds })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toEqual([
      { field: 'overlapSeconds', description: 'must be an integer from 0 to 604800' },
    ])
  })
})
