import { randomUUID } from 'node:crypto'
import type { StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { deletedUrlOf, type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

const undelete = (form: StoredForm, body?: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: `${deletedUrlOf(form)}/undelete`,
  headers,
  ...(body !== undefined && { payload: body as object }),
})

/** A form that was published, edited, answered and deleted, and its responses before the delete. */
const givenDeleted = async (options: Parameters<typeof startForms>[0] = {}) => {
  const service = await startForms({ deletedFormsDays: 30, ...options })
  const form = await service.given.form({ name: 'Precious' })
  await service.given.revision(form)
  await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: { tone: 'calm' } } })
  await service.given.reply(form)
  const before = await service.send({ url: urlOf(form) })
  const revisions = await service.send({ url: `${urlOf(form)}/revisions` })
  await service.send({ method: 'DELETE', url: urlOf(form) })
  return { service, form, before, revisions, etag: '"2-live.1"' }
}

const lastEventOf = async ({ forms, organizationId }: FormsService) =>
  (await forms.events.read({ organizationId, descending: true, limit: 1 }))[0]!

/** Asserts that the form is still deleted. */
const expectDeleted = async (service: FormsService, form: StoredForm) => {
  expect((await service.send({ url: urlOf(form) })).statusCode).toBe(404)
  expect(await service.forms.getDeleted({ ...form, formRef: form.formId })).toBeDefined()
  expect(await lastEventOf(service)).toMatchObject({ type: 'form.deleted' })
}

describe('POST /organizations/{organization}/deletedForms/{form}/undelete', () => {
  it.each([
    ['no body', undefined, {}],
    ['an empty object', {}, {}],
    ['an empty body of JSON', undefined, { 'content-type': 'application/json' }],
    ['validateOnly false', { validateOnly: false }, {}],
  ])('restores the form as it was, for %s', async (_, body, headers) => {
    const { service, form, before, revisions, etag } = await givenDeleted()
    await using _service = service

    const response = await service.send(undelete(form, body, headers))

    expect(response.statusCode).toBe(200)
    expect(response.headers.etag).toBe(etag)
    expect(response.body).toBe(before.body)
    const read = await service.send({ url: urlOf(form) })
    expect([read.body, read.headers.etag]).toEqual([before.body, etag])
    expect((await service.send({ url: `${urlOf(form)}/revisions` })).body).toBe(revisions.body)
    expect((await service.send({ url: `${urlOf(form)}/revisions/live` })).json()).toMatchObject({
      form: { name: 'Precious' },
    })
    const { deletedForms } = await service.forms.listDeleted({ ...form, limit: 10, skip: 0 })
    expect(deletedForms).toEqual([])
  })

  it('records an event with the caller', async () => {
    const { service, form, etag } = await givenDeleted()
    await using _ = service
    const userId = randomUUID()

    await service.send(undelete(form, {}, { 'x-request-id': 'bring-back' }), { userId })

    expect(await lastEventOf(service)).toMatchObject({
      type: 'form.undeleted',
      data: { name: 'Precious', etag, actor: { user: `users/${userId}` }, httpRequestId: 'bring-back' },
    })
  })

  it('finds the form by its public id', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const url = `/organizations/${form.organizationId}/deletedForms/${form.publicId}/undelete`

    expect((await service.send({ method: 'POST', url })).json()).toMatchObject({ publicId: form.publicId })
  })

  it('changes nothing in a dry run, and returns the form as it would be', async () => {
    const { service, form, before } = await givenDeleted()
    await using _ = service

    const response = await service.send(undelete(form, { validateOnly: true }))

    expect([response.statusCode, response.body]).toEqual([200, before.body])
    expect(response.headers.etag).toBeUndefined()
    await expectDeleted(service, form)
  })

  it('rejects what is not deleted, or is purged, also in a dry run', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const present = await service.given.form()
    await service.forms.purge({ ...form, formRef: form.formId }, () => {})

    for (const each of [form, present, { ...form, formId: randomUUID() }]) {
      for (const body of [{}, { validateOnly: true }]) {
        expect(refusalOf(await service.send(undelete(each, body)))).toMatchObject({
          code: 404,
          status: 'NOT_FOUND',
          reason: 'DELETED_FORM_NOT_FOUND',
          metadata: { deletedForm: `organizations/${each.organizationId}/deletedForms/${each.formId}` },
        })
      }
    }
    expect(await service.everyForm()).toEqual([present])
  })

  it('rejects a stale ETag, also in a dry run, and accepts the one that the form had', async () => {
    const { service, form, etag } = await givenDeleted()
    await using _ = service

    for (const body of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(await service.send(undelete(form, body, { 'if-match': '"1-live.1"' })))
      expect(refusal).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag } })
      const unquoted = refusalOf(await service.send(undelete(form, body, { 'if-match': '2-live.1' })))
      expect(unquoted).toMatchObject({ code: 400, reason: 'INVALID_IF_MATCH' })
    }
    await expectDeleted(service, form)
    expect((await service.send(undelete(form, {}, { 'if-match': etag }))).statusCode).toBe(200)
  })

  it('rejects a form more than the quota allows, also in a dry run', async () => {
    const { service, form } = await givenDeleted({ quota: { forms: 1, bytes: 0 } })
    await using _ = service
    const other = await service.given.form()

    for (const body of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(await service.send(undelete(form, body)))
      expect(refusal).toMatchObject({ code: 429, reason: 'QUOTA_EXCEEDED', metadata: { quota: 'forms' } })
    }
    expect(await service.everyForm()).toEqual([other])
  })

  it.each([
    ['a misspelt member', { validateonly: true }, 'validateonly'],
    ['a requestId that is no UUID', { requestId: 'x' }, 'requestId'],
    ['null for a boolean', { validateOnly: null }, 'validateOnly'],
    ['a list for an object', [], ''],
  ])('rejects %s', async (_, body, field) => {
    const { service, form } = await givenDeleted()
    await using _service = service

    const refusal = refusalOf(await service.send(undelete(form, body)))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: [field] })
    await expectDeleted(service, form)
  })

  it('rejects viewers, read-only keys, queries and another organization', async () => {
    const { service, form } = await givenDeleted()
    await using _ = service
    const reasonOf = async (...[request, identity]: Parameters<FormsService['send']>) =>
      refusalOf(await service.send(request, identity)).reason

    for (const body of [{}, { validateOnly: true }]) {
      expect(await reasonOf(undelete(form, body), { role: 'viewer' })).toBe('WRITE_FORBIDDEN')
      expect(await reasonOf(undelete(form, body), { role: 'owner', readOnly: true })).toBe('WRITE_FORBIDDEN')
      const elsewhere = { organizationId: randomUUID() }
      expect(await reasonOf(undelete(form, body), elsewhere)).toBe('ORGANIZATION_NOT_FOUND')
    }
    const foreign = { ...form, organizationId: randomUUID() }
    const asTheirs = { organizationId: foreign.organizationId }
    expect(await reasonOf(undelete(foreign), asTheirs)).toBe('DELETED_FORM_NOT_FOUND')
    const query = { method: 'POST' as const, url: `${deletedUrlOf(form)}/undelete?validateOnly=true` }
    expect(await reasonOf(query)).toBe('INVALID_REQUEST')
    await expectDeleted(service, form)
  })

  it.each(['GET', 'PATCH', 'DELETE', 'PUT'] as const)('rejects %s', async (method) => {
    const { service, form } = await givenDeleted()
    await using _ = service

    const refusal = refusalOf(await service.send({ method, url: `${deletedUrlOf(form)}/undelete` }))

    expect(refusal).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
  })
})
