import { Whoami } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { startOrganizations } from '../testing.ts'

describe('GET /whoami', () => {
  it('returns the user, the key of the request, and the memberships in their order', async () => {
    await using service = await startOrganizations()
    const { given, directory } = service
    const caller = await given.caller({ name: 'laptop', readOnly: true })
    await given.key({ userId: caller.userId })
    const [first, second] = [await given.organization(), await given.organization()]
    await given.organization()
    await given.member(caller.userId, second, 'owner')
    await given.member(caller.userId, first, 'viewer')

    const response = await service.send(caller.identity, { url: '/whoami' })

    expect(response.statusCode).toBe(200)
    const { user, key, memberships } = Whoami.parse(response.json())
    const { email } = (await directory.findUser(caller.userId))!
    expect(user).toMatchObject({ path: `users/${caller.userId}`, email })
    expect(key).toMatchObject({ path: `keys/${caller.keyId}`, name: 'laptop', readOnly: true, current: true })
    expect(memberships).toMatchObject([
      { organization: { path: `organizations/${second.organizationId}` }, role: 'owner' },
      { organization: { path: `organizations/${first.organizationId}` }, role: 'viewer' },
    ])
  })

  it('rejects a key that was revoked during the request, and query parameters', async () => {
    await using service = await startOrganizations()
    const { identity, keyId } = await service.given.caller()

    expect((await service.send(identity, { url: '/whoami?x=1' })).statusCode).toBe(400)
    await service.directory.revokeKey(keyId)
    expect((await service.send(identity, { url: '/whoami' })).statusCode).toBe(401)
  })
})
