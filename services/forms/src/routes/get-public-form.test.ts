import { randomUUID } from 'node:crypto'
import { type FormDraft, identityHeader, publicFormFields } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import { createIdentitySigner } from '@fms/service-kit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, secret, startForms, urlOf } from '../testing/start-forms.ts'

const identity = { [identityHeader]: createIdentitySigner(secret)({ service: 'gateway' }) }
const read = ({ app }: FormsService, publicId: string, headers = {}) =>
  app.inject({ url: `/internal/forms/${publicId}/public`, headers: { ...identity, ...headers } })

/** Members of a draft that are not public, with values that no other member has. */
const secrets = {
  context: ['SECRET context'],
  leadScoring: { enabled: true, high: 'SECRET high', low: 'SECRET low', medium: 'SECRET medium' },
  marketplace: {
    bookingUrl: 'https://example.com/SECRET',
    category: 'SECRET category',
    description: 'SECRET description',
    enabled: true,
    industry: 'SECRET industry',
    languages: ['SECRET language'],
    location: { address: 'SECRET address', area: 'SECRET area', city: 'SECRET city' },
    name: 'SECRET name',
    services: [{ category: '', description: '', duration: '', name: 'SECRET service' }],
  },
  maxFollowUpQuestions: 4_243,
  tone: 'SECRET tone',
}

describe('GET /internal/forms/{publicId}/public', () => {
  it('returns the public members of the live revision alone, for forms that fill all members', async () => {
    await using service = await startForms()
    await fc.assert(
      fc.asyncProperty(draftArbitrary, async (fields) => {
        const draft: FormDraft = { ...fields, ...secrets }
        const form = await service.given.form(draft)
        await service.given.revision(form)
        await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: { name: 'SECRET draft' } } })

        const response = await read(service, form.publicId)

        const members = publicFormFields.filter((name) => name !== 'publicId')
        const expected = Object.fromEntries(members.map((name) => [name, draft[name]]))
        expect(response.json()).toEqual({ ...expected, publicId: form.publicId, number: 1 })
        expect(response.body).not.toMatch(/SECRET/)
        for (const id of [form.organizationId, form.formId]) expect(response.body).not.toContain(id)
      }),
      { numRuns: 30 },
    )
  })

  it('is a 304 until the next publish, or another AI Handoff of the draft', async () => {
    await using service = await startForms()
    const form = await service.given.form({ name: 'First' })
    await service.given.revision(form)
    const tag = async () => String((await read(service, form.publicId)).headers.etag)
    const first = await tag()
    const cached = await read(service, form.publicId, { 'if-none-match': first })
    expect([cached.statusCode, cached.body, cached.headers.etag]).toEqual([304, '', first])

    const patch = (fields: object) =>
      service.send({ method: 'PATCH', url: urlOf(form), payload: { form: fields } })
    await patch({ name: 'Draft' })
    expect(await tag()).toBe(first)
    await patch({ aiHandoff: { enabled: true } })
    const second = await tag()
    const revision = await service.given.revision(form)

    expect(new Set([first, second, await tag()]).size).toBe(3)
    expect(await tag()).not.toContain(revision.revisionId)
    expect((await read(service, form.publicId, { 'if-none-match': first })).statusCode).toBe(200)
  })

  it('gives unknown, unpublished, taken down and deleted forms the same error', async () => {
    await using service = await startForms()
    const [never, down, deleted] = [
      await service.given.form(),
      await service.given.form(),
      await service.given.form(),
    ]
    for (const form of [down, deleted]) await service.given.revision(form)
    await service.send({ method: 'POST', url: `${urlOf(down)}/unpublish`, payload: {} })
    await service.send({ method: 'DELETE', url: urlOf(deleted) })
    const missing = [never.publicId, down.publicId, deleted.publicId, 'Zz3dE6gH9j']

    for (const headers of [{ 'x-request-id': 'r' }, { 'x-request-id': 'r', 'if-none-match': '*' }]) {
      const responses = await Promise.all(missing.map((publicId) => read(service, publicId, headers)))
      expect(refusalOf(responses[0]!)).toMatchObject({ code: 404, reason: 'PUBLIC_FORM_NOT_FOUND' })
      const bodies = responses.map(({ body }, index) => body.replaceAll(missing[index]!, ''))
      expect(new Set(bodies).size).toBe(1)
    }
  })

  it('rejects a user', async () => {
    await using service = await startForms()
    const form = await service.given.form({}, randomUUID())
    await service.given.revision(form)

    const response = await service.send({ url: `/internal/forms/${form.publicId}/public` })

    expect(refusalOf(response)).toMatchObject({ code: 401, reason: 'IDENTITY_REQUIRED' })
  })
})
