import { randomUUID } from 'node:crypto'
import { AuthorizeResponse, ErrorBody, type Role } from '@fms/contracts'
import { hashSecret, makeApiKey } from '@fms/directory-store'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { identityOf, type OrganizationsService, startOrganizations } from '../testing.ts'

const gateway = { service: 'gateway' } as const

const authorize = ({ send }: OrganizationsService, key: string, organizationRef?: string) =>
  send(gateway, {
    method: 'POST',
    url: '/internal/authorize',
    payload: { keyHash: hashSecret(key), ...(organizationRef !== undefined && { organizationRef }) },
  })

const givenMember = async ({ given }: OrganizationsService, role: Role = 'editor') => {
  const [userId, organization] = [await given.user(), await given.organization()]
  await given.member(userId, organization, role)
  const { key, apiKey } = await given.key({ userId })
  return { userId, organization, key, keyId: apiKey.keyId, keyPrefix: apiKey.prefix }
}

const lastUsedTimeOf = async ({ directory }: OrganizationsService) =>
  (await directory.listKeys())[0]?.lastUsedTime

describe('POST /internal/authorize', () => {
  it.each(['viewer', 'editor', 'owner'] as const)(
    'returns the user of the key and their role %s',
    async (role) => {
      await using service = await startOrganizations()
      const { userId, organization, key, keyId, keyPrefix } = await givenMember(service, role)
      const { organizationId, slug } = organization

      for (const ref of [organizationId, organizationId.toUpperCase(), slug]) {
        const response = await authorize(service, key, ref)

        expect(response.statusCode).toBe(200)
        expect(AuthorizeResponse.parse(response.json())).toEqual({
          userId,
          keyId,
          keyPrefix,
          readOnly: false,
          organization: { organizationId, role },
        })
      }
    },
  )

  it('ignores unknown members, of a later release', async () => {
    await using service = await startOrganizations()
    const { key, userId } = await givenMember(service)
    const payload = { keyHash: hashSecret(key), ofALaterRelease: true }

    const response = await service.send(gateway, { method: 'POST', url: '/internal/authorize', payload })

    expect(response.json()).toMatchObject({ userId })
  })

  it('returns whether the key is read-only', async () => {
    await using service = await startOrganizations()
    const { key } = await service.given.key({ userId: await service.given.user(), readOnly: true })

    expect((await authorize(service, key)).json()).toMatchObject({ readOnly: true })
  })

  it('gives the same response for a foreign organization, a missing one, and none', async () => {
    await using service = await startOrganizations()
    const { key } = await givenMember(service)
    const foreign = await service.given.organization()
    const { body } = await authorize(service, key)

    for (const ref of [foreign.organizationId, foreign.slug, randomUUID(), '', '\0']) {
      expect((await authorize(service, key, ref)).body).toBe(body)
    }
  })

  it('rejects unknown, expired and revoked keys with the same error', async () => {
    await using service = await startOrganizations()
    const { given, directory, clock } = service
    const userId = await given.user()
    const expired = await given.key({ userId, expireTime: clock.now })
    const revoked = await given.key({ userId })
    await directory.revokeKey(revoked.apiKey.keyId)

    for (const key of [makeApiKey(), expired.key, revoked.key]) {
      const response = await authorize(service, key)

      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toBe('ApiKey realm="forms"')
      expect(ErrorBody.parse(response.json()).error).toMatchObject({
        status: 'UNAUTHENTICATED',
        details: [{ reason: 'API_KEY_INVALID', metadata: {} }, {}],
      })
    }
  })

  it('rejects requests without the identity of the gateway', async () => {
    await using service = await startOrganizations()
    const { userId } = await givenMember(service)
    const request = { method: 'POST', url: '/internal/authorize', payload: { keyHash: '' } } as const

    for (const response of [
      await service.app.inject(request),
      await service.send(identityOf(userId), request),
    ]) {
      expect(response.statusCode).toBe(401)
      expect(response.json().error.details[0]).toMatchObject({ reason: 'IDENTITY_REQUIRED' })
    }
  })

  it('reports all violations of the request', async () => {
    await using service = await startOrganizations()
    const response = await service.send(gateway, {
      method: 'POST',
      url: '/internal/authorize',
      payload: { organizationRef: 1 },
    })

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toEqual([
      { field: 'keyHash', description: 'is required' },
      { field: 'organizationRef', description: 'must be a string' },
    ])
  })

  it('records the last use of a key once a minute', async () => {
    await using service = await startOrganizations()
    const { key } = await givenMember(service)
    const start = service.clock.now.getTime()
    const touchKey = vi.spyOn(service.directory, 'touchKey')

    for (const afterMs of [0, 1, 59_999, 60_000]) {
      service.clock.now = new Date(start + afterMs)
      expect((await authorize(service, key)).statusCode).toBe(200)
    }

    await vi.waitFor(async () => expect(await lastUsedTimeOf(service)).toEqual(new Date(start + 60_000)))
    expect(touchKey.mock.calls.map(([, time]) => time.getTime() - start)).toEqual([0, 60_000])
  })

  it('does not record a use that another instance has just recorded', async () => {
    await using service = await startOrganizations()
    const { key, keyId } = await givenMember(service)
    await service.directory.touchKey(keyId, service.clock.now)
    const touchKey = vi.spyOn(service.directory, 'touchKey')

    await authorize(service, key)

    expect(touchKey).not.toHaveBeenCalled()
  })

  it('does not record the use of a rejected key', async () => {
    await using service = await startOrganizations()
    const { key, keyId } = await givenMember(service)
    await service.directory.revokeKey(keyId)

    await authorize(service, key)

    expect(await lastUsedTimeOf(service)).toBeUndefined()
  })

  it('responds with 200 and logs the error when the write of the use fails', async () => {
    const lines: string[] = []
    await using service = await startOrganizations(
      pino({ level: 'warn' }, { write: (line) => lines.push(line) }),
    )
    const { key, keyId } = await givenMember(service)
    vi.spyOn(service.directory, 'touchKey').mockRejectedValue(new Error('disk full'))

    expect((await authorize(service, key)).statusCode).toBe(200)

    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(JSON.parse(lines[0]!)).toMatchObject({ key: keyId, err: { message: 'disk full' } })
  })

  it('does not wait for the write of the use', async () => {
    await using service = await startOrganizations()
    const { key } = await givenMember(service)
    vi.spyOn(service.directory, 'touchKey').mockReturnValue(new Promise(() => {}))

    expect((await authorize(service, key)).statusCode).toBe(200)
  })
})
