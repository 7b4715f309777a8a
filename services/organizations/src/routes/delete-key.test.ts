import { randomUUID } from 'node:crypto'
import { hashSecret } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { type Caller, type OrganizationsService, startOrganizations } from '../testing.ts'

const remove = ({ send }: OrganizationsService, { identity }: Caller, ref: string, payload?: object) =>
  send(identity, { method: 'DELETE', url: `/keys/${ref}`, ...(payload && { payload }) })

const works = async ({ directory, clock }: OrganizationsService, key: string) =>
  (await directory.authorize({ keyHash: hashSecret(key) }, clock.now)) !== undefined

describe('DELETE /keys/{key_id}', () => {
  it('revokes a key of the caller, also the key of the request', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()
    const other = await service.given.key({ userId: caller.userId })

    for (const keyId of [other.apiKey.keyId.toUpperCase(), caller.keyId]) {
      const response = await remove(service, caller, keyId)

      expect([response.statusCode, response.json()]).toEqual([200, {}])
    }
    expect([await works(service, other.key), await works(service, caller.key)]).toEqual([false, false])
  })

  it.each(['?validateOnly=true', ''])('changes nothing in a dry run, with the query "%s"', async (query) => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await remove(service, caller, caller.keyId + query, { validateOnly: true })

    expect([response.statusCode, response.json()]).toEqual([200, {}])
    expect(await works(service, caller.key)).toBe(true)
    expect((await remove(service, caller, `${randomUUID()}?validateOnly=true`)).statusCode).toBe(404)
  })

  it('rejects a requestId, which it would not remember', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await remove(service, caller, `${caller.keyId}?requestId=${randomUUID()}`)

    expect(response.statusCode).toBe(400)
    expect(await works(service, caller.key)).toBe(true)
  })

  it('rejects a body and a query that disagree', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller()

    const response = await remove(service, caller, `${caller.keyId}?validateOnly=true`, {
      validateOnly: false,
    })

    expect(response.statusCode).toBe(400)
    expect(await works(service, caller.key)).toBe(true)
  })

  it('lets a read-only key revoke only itself', async () => {
    await using service = await startOrganizations()
    const caller = await service.given.caller({ readOnly: true })
    const other = await service.given.key({ userId: caller.userId })

    const response = await remove(service, caller, other.apiKey.keyId)

    expect(response.statusCode).toBe(403)
    expect(response.json().error.details[0]).toMatchObject({ reason: 'WRITE_FORBIDDEN' })
    expect(await works(service, other.key)).toBe(true)
    expect((await remove(service, caller, caller.keyId)).statusCode).toBe(200)
    // The gateway may know the key for a moment longer.
    const again = await remove(service, caller, caller.keyId.toUpperCase())
    expect(again.json().error.details[0]).toMatchObject({ reason: 'KEY_NOT_FOUND' })
  })

  it('finds no key of another user, and no revoked one', async () => {
    await using service = await startOrganizations()
    const [caller, stranger] = [await service.given.caller(), await service.given.caller()]
    const revoked = await service.given.key({ userId: caller.userId })
    await service.directory.revokeKey(revoked.apiKey.keyId)

    for (const keyId of [stranger.keyId, revoked.apiKey.keyId, 'nonsense']) {
      const response = await remove(service, caller, keyId)

      expect(response.statusCode).toBe(404)
      expect(response.json().error.details[0]).toMatchObject({ reason: 'KEY_NOT_FOUND' })
    }
    expect(await works(service, stranger.key)).toBe(true)
  })
})
