import { randomUUID } from 'node:crypto'
import { ErrorBody, Organization } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { identityOf, startOrganizations } from '../testing.ts'

describe('GET /organizations/{organizationRef}', () => {
  it('returns all fields to a member, by id in any letter case and by slug', async () => {
    await using service = await startOrganizations()
    const userId = await service.given.user()
    const acme = await service.given.organization({ name: 'Acme', slug: 'acme', metadata: { seats: 3 } })
    await service.given.member(userId, acme)

    for (const ref of [acme.organizationId, acme.organizationId.toUpperCase(), 'acme']) {
      const response = await service.get(userId, `/organizations/${ref}`)

      expect(response.statusCode).toBe(200)
      expect(Organization.parse(response.json())).toEqual({
        createTime: '2026-11-20T09:30:00.000Z',
        logo: null,
        metadata: { seats: 3 },
        name: 'Acme',
        path: `organizations/${acme.organizationId}`,
        slug: 'acme',
      })
    }
  })

  it('gives the same bytes for a foreign organization as for a missing one', async () => {
    await using service = await startOrganizations()
    const userId = await service.given.user()
    const get = async (ref: string) => {
      const headers = { 'x-request-id': 'r' }
      const request = { url: `/organizations/${ref}`, headers }
      const { statusCode, body } = await service.send(identityOf(userId), request)
      return { statusCode, body }
    }
    const ids = [randomUUID(), 'acme'] as const
    const missing = await Promise.all(ids.map(get))

    const foreign = await service.given.organization({ slug: 'acme' })
    await service.given.member(await service.given.user(), foreign, 'owner')

    expect(await get('acme')).toEqual(missing[1])
    const byId = await get(foreign.organizationId)
    expect(byId.body).toBe(missing[0]!.body.replaceAll(ids[0], foreign.organizationId))
    expect(byId.statusCode).toBe(404)
  })

  it('repeats the reference in the error as given', async () => {
    await using service = await startOrganizations()
    const response = await service.get(await service.given.user(), '/organizations/No%20such%20thing')

    expect(response.statusCode).toBe(404)
    expect(ErrorBody.parse(response.json()).error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      message: expect.stringContaining('No such thing'),
      details: [{ reason: 'ORGANIZATION_NOT_FOUND', metadata: { organization: 'No such thing' } }, {}],
    })
  })

  it.each(['%', '%ff', '%00', "'; --", 'x'.repeat(10_000), encodeURIComponent('../acme')])(
    'responds to /organizations/%s with 404',
    async (ref) => {
      await using service = await startOrganizations()
      const response = await service.get(await service.given.user(), `/organizations/${ref}`)

      expect(response.statusCode).toBe(404)
    },
  )

  it('rejects query parameters', async () => {
    await using service = await startOrganizations()
    const response = await service.get(await service.given.user(), '/organizations/acme?view=full')

    expect(response.statusCode).toBe(400)
    expect(response.json().error.details[1].fieldViolations).toMatchObject([{ field: 'view' }])
  })

  it('rejects requests without an identity token', async () => {
    await using service = await startOrganizations()
    const response = await service.app.inject('/organizations/acme')

    expect(response.statusCode).toBe(401)
    expect(response.headers['www-authenticate']).toBeDefined()
    expect(ErrorBody.parse(response.json()).error.details[0]).toMatchObject({ reason: 'IDENTITY_REQUIRED' })
  })
})
