import { ErrorBody, Session } from '@fms/contracts'
import { hashSecret } from '@fms/directory-store'
import { describe, expect, it } from 'vitest'
import { identityOf, type OrganizationsService, startOrganizations } from '../testing.ts'

const gateway = { service: 'gateway' } as const

const redeem = ({ send }: OrganizationsService, payload: object) =>
  send(gateway, { method: 'POST', url: '/internal/sessions', payload })

const givenCode = async ({ given, directory, clock }: OrganizationsService) => {
  const userId = await given.user()
  const code = await directory.createLoginCode(userId, new Date(clock.now.getTime() + 1000))
  return { userId, code }
}

describe('POST /internal/sessions', () => {
  it('exchanges a code for a key that works for 12 hours', async () => {
    await using service = await startOrganizations()
    const { userId, code } = await givenCode(service)

    const response = await redeem(service, { code })

    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    const { key, secret, user } = Session.parse(response.json())
    expect(user.path).toBe(`users/${userId}`)
    const expireTime = new Date(service.clock.now.getTime() + 12 * 3_600_000)
    expect(key).toMatchObject({ name: 'Console', readOnly: false, expireTime: expireTime.toISOString() })
    const authorize = (time: Date) => service.directory.authorize({ keyHash: hashSecret(secret) }, time)
    expect((await authorize(new Date(expireTime.getTime() - 1)))?.key.userId).toBe(userId)
    expect(await authorize(expireTime)).toBeUndefined()
  })

  it('names the user of a code in a dry run, and leaves it valid', async () => {
    await using service = await startOrganizations()
    const { userId, code } = await givenCode(service)

    const response = await redeem(service, { code, validateOnly: true })

    expect(Session.parse(response.json())).toMatchObject({
      key: { path: 'keys/00000000-0000-0000-0000-000000000000', name: 'Console', prefix: '' },
      secret: '',
      user: { path: `users/${userId}` },
    })
    expect(await service.directory.listKeys()).toEqual([])
    expect((await redeem(service, { code })).statusCode).toBe(200)
    expect((await redeem(service, { code, validateOnly: true })).statusCode).toBe(401)
  })

  it('gives the same error for wrong, used and expired codes', async () => {
    await using service = await startOrganizations()
    const [used, expired] = [await givenCode(service), await givenCode(service)]
    await redeem(service, { code: used.code })
    service.clock.now = new Date(service.clock.now.getTime() + 1000)

    for (const code of [used.code, expired.code, '', 'x'.repeat(43), '\0']) {
      const response = await redeem(service, { code })

      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toBe('ApiKey realm="forms"')
      expect(ErrorBody.parse(response.json()).error).toMatchObject({
        status: 'UNAUTHENTICATED',
        message: expect.stringContaining('formctl user login-link'),
        details: [{ reason: 'LOGIN_CODE_INVALID', metadata: {} }, {}],
      })
    }
  })

  it('rejects requests without the identity of the gateway, and other bodies', async () => {
    await using service = await startOrganizations()
    const { userId, code } = await givenCode(service)
    const request = { method: 'POST', url: '/internal/sessions', payload: { code } } as const

    expect((await service.app.inject(request)).statusCode).toBe(401)
    expect((await service.send(identityOf(userId), request)).statusCode).toBe(401)
    expect((await redeem(service, { code: 1 })).statusCode).toBe(400)
    expect((await redeem(service, { code, more: 1 })).statusCode).toBe(400)
    expect((await redeem(service, { code })).statusCode).toBe(200)
  })
})
