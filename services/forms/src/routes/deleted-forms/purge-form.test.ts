import { randomUUID } from 'node:crypto'
import type { StoredForm } from '@fms/forms-store'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { deletedUrlOf, type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

interface Options {
  query?: string
  body?: object
  headers?: Record<string, string>
}

const purge = (form: StoredForm, { query = '', body, headers = {} }: Options = {}): InjectOptions => ({
  method: 'DELETE',
  url: deletedUrlOf(form) + query,
  headers,
  ...(body !== undefined && { payload: body }),
})

const owner = { role: 'owner' as const }

const givenDeleted = async () => {
  const service = await startForms({ deletedFormsDays: 30 })
  const form = await service.given.form({ name: 'Obsolete' })
  await service.given.revision(form)
  await service.send({ method: 'DELETE', url: urlOf(form) })
  return { service, form }
}

const expectRestorable = async (service: FormsService, form: StoredForm) =>
  expect(await service.forms.getDeleted({ ...form, formRef: form.formId })).toMatchObject({ name: form.name })

const dryOrNot = [{}, { query: '?validateOnly=true' }, { body: { validateOnly: true } }]

describe('DELETE /organizations/{organization}/deletedForms/{form}', () => {
  it('removes the form for good, and frees its ids', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const userId = randomUUID()

    const response = await service.send(purge(form), { ...owner, userId })

    expect([response.statusCode, response.json()]).toEqual([200, {}])
    const { deletedForms } = await service.forms.listDeleted({ ...form, limit: 10, skip: 0 })
    expect(deletedForms).toEqual([])
    const undelete = { method: 'POST' as const, url: `${deletedUrlOf(form)}/undelete` }
    expect(refusalOf(await service.send(undelete)).reason).toBe('DELETED_FORM_NOT_FOUND')
    expect(refusalOf(await service.send(purge(form), owner)).reason).toBe('DELETED_FORM_NOT_FOUND')
    const [event] = await service.forms.events.read({ ...form, descending: true, limit: 1 })
    expect(event).toMatchObject({
      type: 'form.purged',
      data: { publicId: form.publicId, actor: { user: `users/${userId}` } },
    })
    const payload = { form: {}, formId: form.formId }
    const url = `/organizations/${form.organizationId}/forms`
    expect((await service.send({ method: 'POST', url, payload })).statusCode).toBe(200)
  })

  it('finds the form by its public id', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service

    expect((await service.send(purge({ ...form, formId: form.publicId }), owner)).statusCode).toBe(200)
  })

  it.each(dryOrNot.slice(1))('changes nothing with %j', async (options) => {
    const { service, form } = await givenDeleted()
    await using _ = service

    const response = await service.send(purge(form, options), owner)

    expect([response.statusCode, response.json()]).toEqual([200, {}])
    await expectRestorable(service, form)
  })

  it.each(dryOrNot)('is for owners alone: %j', async (options) => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const refusedTo = async (identity: Parameters<FormsService['send']>[1]) =>
      refusalOf(await service.send(purge(form, options), identity))

    expect(await refusedTo({ role: 'editor' })).toMatchObject({
      code: 403,
      status: 'PERMISSION_DENIED',
      reason: 'OWNER_REQUIRED',
      metadata: { role: 'editor' },
    })
    expect(await refusedTo({ role: 'viewer' })).toMatchObject({ code: 403, reason: 'WRITE_FORBIDDEN' })
    expect(await refusedTo({ ...owner, readOnly: true })).toMatchObject({ reason: 'WRITE_FORBIDDEN' })
    const elsewhere = { ...owner, organizationId: randomUUID() }
    expect(await refusedTo(elsewhere)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
    await expectRestorable(service, form)
  })

  it.each(dryOrNot)('rejects forms that are not deleted: %j', async (options) => {
    const { service } = await givenDeleted()
    await using _ = service
    const present = await service.given.form()

    const refusal = refusalOf(await service.send(purge(present, options), owner))

    expect(refusal).toMatchObject({ code: 404, reason: 'DELETED_FORM_NOT_FOUND' })
    expect(await service.everyForm()).toEqual([present])
  })

  it('purges no form of another organization', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const other = randomUUID()

    const refusal = refusalOf(
      await service.send(purge({ ...form, organizationId: other }), { ...owner, organizationId: other }),
    )

    expect(refusal).toMatchObject({ code: 404, reason: 'DELETED_FORM_NOT_FOUND' })
    await expectRestorable(service, form)
  })

  it('rejects a stale ETag, and accepts the one that the form had', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const etag = '"1-live.0"'

    for (const options of dryOrNot) {
      const stale = purge(form, { ...options, headers: { 'if-match': '"2-live.0"' } })
      const refusal = refusalOf(await service.send(stale, owner))
      expect(refusal).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag } })
    }
    await expectRestorable(service, form)
    const response = await service.send(purge(form, { headers: { 'if-match': etag } }), owner)
    expect(response.statusCode).toBe(200)
  })

  it.each<[string, Options, string]>([
    ['a misspelt member', { body: { validateonly: true } }, 'validateonly'],
    ['an unknown parameter', { query: '?force=true' }, 'force'],
    [
      'a body that contradicts the query',
      { query: '?validateOnly=true', body: { validateOnly: false } },
      'validateOnly',
    ],
  ])('rejects %s', async (_, options, field) => {
    const { service, form } = await givenDeleted()
    await using _service = service

    const refusal = refusalOf(await service.send(purge(form, options), owner))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: [field] })
    await expectRestorable(service, form)
  })
})
