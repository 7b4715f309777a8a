import { randomUUID } from 'node:crypto'
import { Form } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const unpublish = (form: StoredForm, body?: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST' as const,
  url: `${urlOf(form)}/unpublish`,
  headers,
  ...(body !== undefined && { payload: body as object }),
})

const givenLive = async () => {
  const service = await startForms()
  const form = await service.given.form()
  const revision = await service.given.revision(form)
  return { service, form, revision, etag: '"1-live.0"' }
}

const lastEventOf = async ({ forms }: FormsService, { organizationId }: StoredForm) =>
  (await forms.events.read({ organizationId, descending: true, limit: 1 }))[0]!

/** Asserts that the form is live, and that its last event is that of the publish. */
const expectLive = async (service: FormsService, form: StoredForm) => {
  expect(await service.everyForm()).toEqual([{ ...form, live: true }])
  expect(await lastEventOf(service, form)).toMatchObject({ type: 'form.published' })
}

describe('POST /organizations/{organization}/forms/{form}/unpublish', () => {
  it.each([
    ['no body', undefined, {}],
    ['an empty object', {}, {}],
    ['an empty body of JSON', undefined, { 'content-type': 'application/json' }],
    ['validateOnly false', { validateOnly: false }, {}],
  ])('takes the form down and returns it, for %s', async (_, body, headers) => {
    const { service, form, revision } = await givenLive()
    await using _service = service

    const response = await service.send(unpublish(form, body, headers))

    expect(response.statusCode).toBe(200)
    expect(response.headers.etag).toBe('"1-draft.0"')
    const read = await service.send({ url: urlOf(form) })
    expect(Form.parse(response.json())).toEqual(read.json())
    expect(response.json()).toMatchObject({ live: false, updateTime: form.updateTime.toISOString() })
    const live = refusalOf(await service.send({ url: `${urlOf(form)}/revisions/live` }))
    expect(live).toMatchObject({ code: 404, reason: 'REVISION_NOT_FOUND' })
    const byId = await service.send({ url: `${urlOf(form)}/revisions/${revision.revisionId}` })
    expect(byId.json()).toMatchObject({ alternateIds: [] })
    expect((await service.send({ url: `${urlOf(form)}/revisions` })).json()).toMatchObject({ totalSize: 1 })
  })

  it('records an event with the revision, the note and the caller', async () => {
    const { service, form, revision } = await givenLive()
    await using _ = service
    const userId = randomUUID()

    const request = unpublish(form, { note: 'The wrong price' }, { 'x-request-id': 'take-down' })
    await service.send(request, { userId })

    const event = await lastEventOf(service, form)
    expect(event).toMatchObject({
      type: 'form.unpublished',
      data: {
        revision: `organizations/${form.organizationId}/forms/${form.formId}/revisions/${revision.revisionId}`,
        number: 1,
        note: 'The wrong price',
        etag: '"1-draft.0"',
        previousEtag: '"1-live.0"',
        actor: { user: `users/${userId}` },
      },
    })
  })

  it('finds the form by its public id', async () => {
    const { service, form } = await givenLive()
    await using _ = service

    const url = `/organizations/${form.organizationId}/forms/${form.publicId}/unpublish`

    expect((await service.send({ method: 'POST', url })).statusCode).toBe(200)
  })

  it('rejects a form that is not live, also in a dry run', async () => {
    const { service, form } = await givenLive()
    await using _ = service
    const other = await service.given.form()
    await service.send(unpublish(form))

    for (const each of [form, other]) {
      for (const body of [{}, { validateOnly: true }]) {
        expect(refusalOf(await service.send(unpublish(each, body)))).toMatchObject({
          code: 400,
          status: 'FAILED_PRECONDITION',
          reason: 'FORM_NOT_LIVE',
          metadata: { form: `organizations/${each.organizationId}/forms/${each.formId}` },
        })
      }
    }
  })

  it('changes nothing in a dry run, and returns the form as it would be', async () => {
    const { service, form } = await givenLive()
    await using _ = service

    const response = await service.send(unpublish(form, { note: 'why', validateOnly: true }))

    expect(response.statusCode).toBe(200)
    expect(response.headers.etag).toBeUndefined()
    expect(Form.parse(response.json())).toMatchObject({ live: false })
    await expectLive(service, form)
  })

  it.each([
    ['a note of 501 characters', { note: 'é'.repeat(501) }, 'note'],
    ['a note that is no text', { note: 1 }, 'note'],
    ['null for a note', { note: null }, 'note'],
    ['a misspelt member', { notes: 'x' }, 'notes'],
    ['a word for a boolean', { validateOnly: 'true' }, 'validateOnly'],
    ['a list for an object', [], ''],
  ])('rejects %s', async (_, body, field) => {
    const { service, form } = await givenLive()
    await using _service = service

    const refusal = refusalOf(await service.send(unpublish(form, body)))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: [field] })
    await expectLive(service, form)
  })

  it('accepts a note of 500 characters', async () => {
    const { service, form } = await givenLive()
    await using _ = service
    const note = '\u{1f600}'.repeat(500)

    expect((await service.send(unpublish(form, { note }))).statusCode).toBe(200)

    expect((await lastEventOf(service, form)).data.note).toBe(note)
  })

  it('rejects a stale ETag, also in a dry run, and accepts one from before the publish', async () => {
    const { service, form, etag } = await givenLive()
    await using _ = service

    for (const body of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(await service.send(unpublish(form, body, { 'if-match': '"2-live.0"' })))
      expect(refusal).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag } })
    }
    const unquoted = refusalOf(await service.send(unpublish(form, {}, { 'if-match': '1-live.0' })))
    expect(unquoted).toMatchObject({ code: 400, reason: 'INVALID_IF_MATCH' })
    await expectLive(service, form)
    const accepted = await service.send(unpublish(form, {}, { 'if-match': '"1-draft.0"' }))
    expect(accepted.statusCode).toBe(200)
  })

  it('rejects a missing form, viewers, read-only keys, queries and another organization', async () => {
    const { service, form } = await givenLive()
    await using _ = service
    const missing = { ...form, formId: randomUUID() }
    const reasonOf = async (...[request, identity]: Parameters<FormsService['send']>) =>
      refusalOf(await service.send(request, identity)).reason

    for (const body of [{}, { validateOnly: true }]) {
      expect(await reasonOf(unpublish(missing, body))).toBe('FORM_NOT_FOUND')
      expect(await reasonOf(unpublish(form, body), { role: 'viewer' })).toBe('WRITE_FORBIDDEN')
      expect(await reasonOf(unpublish(form, body), { readOnly: true })).toBe('WRITE_FORBIDDEN')
      const elsewhere = { organizationId: randomUUID() }
      expect(await reasonOf(unpublish(form, body), elsewhere)).toBe('ORGANIZATION_NOT_FOUND')
    }
    const query = { method: 'POST' as const, url: `${urlOf(form)}/unpublish?validateOnly=true` }
    expect(await reasonOf(query)).toBe('INVALID_REQUEST')
    await expectLive(service, form)
  })

  it.each(['GET', 'PATCH', 'DELETE', 'PUT'] as const)('rejects %s', async (method) => {
    const { service, form } = await givenLive()
    await using _ = service

    const refusal = refusalOf(await service.send({ method, url: `${urlOf(form)}/unpublish` }))

    expect(refusal).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
  })
})
