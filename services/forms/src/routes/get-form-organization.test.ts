import { randomUUID } from 'node:crypto'
import { identityHeader } from '@fms/contracts'
import { createIdentitySigner } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { refusalOf, secret, startForms } from '../testing/start-forms.ts'

const urlOf = (publicId: string) => `/internal/forms/${publicId}/organization`
const headers = { [identityHeader]: createIdentitySigner(secret)({ service: 'gateway' }) }

describe('GET /internal/forms/{publicId}/organization', () => {
  it('returns the organization to the gateway', async () => {
    await using service = await startForms()
    const { publicId, organizationId } = await service.given.form({}, randomUUID())

    const response = await service.app.inject({ url: urlOf(publicId), headers })

    expect(response.json()).toEqual({ organizationId })
  })

  it('returns no organization for an unknown public id', async () => {
    await using service = await startForms()

    const response = await service.app.inject({ url: urlOf('Zz3dE6gH9j'), headers })

    expect([response.statusCode, response.json()]).toEqual([200, {}])
  })

  it('rejects a user', async () => {
    await using service = await startForms()
    const { publicId } = await service.given.form()

    const response = await service.send({ url: urlOf(publicId) })

    expect(refusalOf(response)).toMatchObject({ code: 401, reason: 'IDENTITY_REQUIRED' })
  })
})
