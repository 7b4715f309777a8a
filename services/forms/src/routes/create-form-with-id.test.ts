import { randomUUID } from 'node:crypto'
import { Form, nilUuid } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { deletedUrlOf, type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const create = (service: FormsService, body: object, identity: Parameters<FormsService['send']>[1] = {}) => {
  const organizationId = identity.organizationId ?? service.organizationId
  const url = `/organizations/${organizationId}/forms`
  return service.send({ method: 'POST', url, payload: { form: {}, ...body } }, identity)
}

const dryOrNot = [{}, { validateOnly: true }]

describe('POST /organizations/{organization}/forms with formId', () => {
  it('creates the form with this id, in lower case, and with a public id of the service', async () => {
    await using service = await startForms()
    const formId = randomUUID()

    const response = await create(service, { formId: formId.toUpperCase() })

    const form = Form.parse(response.json())
    expect(form).toMatchObject({
      path: `organizations/${service.organizationId}/forms/${formId}`,
      publicId: expect.stringMatching(/^[A-Za-z0-9]{10}$/),
    })
    expect((await service.send({ url: `/${form.path}` })).json()).toEqual(form)
  })

  it('returns this id in a dry run, and stores nothing', async () => {
    await using service = await startForms()
    const formId = randomUUID()

    const response = await create(service, { formId, validateOnly: true })

    expect(response.json()).toMatchObject({
      path: `organizations/${service.organizationId}/forms/${formId}`,
      publicId: '',
    })
    expect(response.headers.etag).toBeUndefined()
    expect(await service.everyForm()).toEqual([])
  })

  it('gives no ETag again that a purged form with this id has had', async () => {
    await using service = await startForms()
    const formId = randomUUID()
    const first = await create(service, { formId })
    const url = `/${first.json().path}`
    await service.send({ method: 'DELETE', url })
    const deleted = url.replace('/forms/', '/deletedForms/')
    await service.send({ method: 'DELETE', url: deleted }, { role: 'owner' })
    service.clock.now = new Date(service.clock.now.getTime() + 1)
    expect((await create(service, { formId, form: { name: 'Other' } })).statusCode).toBe(200)

    const etag = String(first.headers.etag)
    const read = await service.send({ url, headers: { 'if-none-match': etag } })
    const patch = {
      method: 'PATCH',
      url,
      headers: { 'if-match': etag },
      payload: { form: { name: 'Edited' } },
    }

    expect(read.statusCode).toBe(200)
    expect((await service.send(patch as never)).statusCode).toBe(412)
  })

  it.each(dryOrNot)('rejects an id that another form has: %j', async (options) => {
    await using service = await startForms()
    const form = await service.given.form()

    const refusal = refusalOf(await create(service, { formId: form.formId.toUpperCase(), ...options }))

    expect(refusal).toMatchObject({
      code: 409,
      status: 'ALREADY_EXISTS',
      reason: 'FORM_ID_TAKEN',
      metadata: { form: `organizations/${form.organizationId}/forms/${form.formId}`, deleted: 'false' },
    })
    expect(await service.everyForm()).toEqual([form])
  })

  it.each(dryOrNot)('rejects the id of a deleted form until it is purged: %j', async (options) => {
    await using service = await startForms({ deletedFormsDays: 30 })
    const form = await service.given.form()
    const { formId } = form
    await service.send({ method: 'DELETE', url: urlOf(form) })

    const refusal = refusalOf(await create(service, { formId, ...options }))

    expect(refusal).toMatchObject({ code: 409, reason: 'FORM_ID_TAKEN', metadata: { deleted: 'true' } })
    await service.send({ method: 'DELETE', url: deletedUrlOf(form) }, { role: 'owner' })
    expect((await create(service, { formId, ...options })).statusCode).toBe(200)
  })

  it.each(dryOrNot)('accepts the id of a form of another organization: %j', async (options) => {
    await using service = await startForms()
    const foreign = await service.given.form({ name: 'Theirs' }, randomUUID())

    const response = await create(service, { form: { name: 'Ours' }, formId: foreign.formId, ...options })

    expect(response.statusCode).toBe(200)
    const ref = { organizationId: foreign.organizationId, formRef: foreign.formId }
    expect(await service.forms.get(ref)).toEqual(foreign)
  })

  it.each(['x', '', 'Ab3dE6gH9j', 7, null, 'organizations/acme', nilUuid])('rejects %j', async (formId) => {
    await using service = await startForms()

    const refusal = refusalOf(await create(service, { formId }))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: ['formId'] })
    expect(await service.everyForm()).toEqual([])
  })

  it.each(dryOrNot)('checks the rules before the id, and the id before the quota: %j', async (options) => {
    await using service = await startForms({ quota: { forms: 1, bytes: 0 } })
    const { formId } = await service.given.form()
    const reasonOf = async (body: object) => refusalOf(await create(service, { ...body, ...options })).reason

    expect(await reasonOf({ formId, form: { name: 7 } })).toBe('INVALID_REQUEST')
    expect(await reasonOf({ formId })).toBe('FORM_ID_TAKEN')
    expect(await reasonOf({ formId: randomUUID() })).toBe('QUOTA_EXCEEDED')
  })
})
