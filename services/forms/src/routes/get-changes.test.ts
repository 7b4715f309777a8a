import { randomUUID } from 'node:crypto'
import { FormChanges } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const start = { type: 'start', key: 'hello', title: 'Hello' }
const choice = (key: string, options: string[]) => ({ type: 'choice', key, options })

/** A form with a live revision, and the draft that followed it. */
const given = async () => {
  const service = await startForms()
  const form = await service.given.form({ steps: [choice('q', ['a', 'b']), choice('r', [])] })
  const revision = await service.given.revision(form)
  await patch(service, form, { name: 'Later', steps: [choice('q', ['b'])] })
  return { service, form, revision }
}

const patch = async (service: FormsService, form: StoredForm, fields: object) => {
  const response = await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: fields } })
  expect(response.statusCode).toBe(200)
}

const changesOf = async (service: FormsService, form: StoredForm, query = '') => {
  const response = await service.send({ url: `${urlOf(form)}/changes${query}` })
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  return FormChanges.parse(response.json())
}

describe('GET /organizations/{organization}/forms/{form}/changes', () => {
  it('compares the live revision with the draft by default', async () => {
    const { service, form, revision } = await given()
    await using _ = service

    const changes = await changesOf(service, form)

    expect(changes).toEqual({
      from: `organizations/${form.organizationId}/forms/${form.formId}/revisions/${revision.revisionId}`,
      to: `organizations/${form.organizationId}/forms/${form.formId}`,
      changes: [
        {
          kind: 'CHANGED',
          field: 'form.name',
          fromPointer: '/name',
          toPointer: '/name',
          before: 'Untitled form',
          after: 'Later',
        },
        {
          kind: 'REMOVED',
          field: 'form.steps[1]',
          fromPointer: '/steps/1',
          before: choice('r', []),
          breaking: 'STEP_REMOVED',
        },
        {
          kind: 'REMOVED',
          field: 'form.steps[0].options[0]',
          fromPointer: '/steps/0/options/0',
          before: 'a',
          breaking: 'OPTION_REMOVED',
        },
      ],
      breakingCount: 2,
      publishable: true,
      violations: [],
      warnings: [
        { field: 'form.steps[0].title', reason: 'MEMBER_MISSING', message: expect.any(String) },
        { field: 'form.steps', reason: 'END_MISSING', message: expect.any(String) },
      ],
    })
    expect(await changesOf(service, form, '?from=live&to=draft')).toEqual(changes)
    expect(await changesOf(service, form, '?from=&to=')).toEqual(changes)
    expect(await changesOf(service, form, `?from=${revision.revisionId.toUpperCase()}`)).toEqual(changes)
  })

  it('finds the form by its public id', async () => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send({
      url: `/organizations/${form.organizationId}/forms/${form.publicId}/changes`,
    })

    expect(response.json()).toEqual(await changesOf(service, form))
  })

  it('has no change right after a publish, whatever has been replied', async () => {
    const { service, form } = await given()
    await using _ = service
    await service.given.revision(form)
    await service.given.reply(form)

    expect(await changesOf(service, form)).toMatchObject({ changes: [], breakingCount: 0 })
  })

  it('compares two revisions, without judging whether either can be published', async () => {
    const { service, form, revision } = await given()
    await using _ = service
    const second = await service.given.revision(form)
    await patch(service, form, { name: 'Latest' })

    const changes = await changesOf(service, form, `?from=${second.revisionId}&to=${revision.revisionId}`)

    expect(changes.from.endsWith(second.revisionId)).toBe(true)
    expect(changes.to.endsWith(revision.revisionId)).toBe(true)
    expect(changes.changes.map(({ kind, field }) => `${kind} ${field}`)).toEqual([
      'CHANGED form.name',
      'ADDED form.steps[0].options[0]',
      'ADDED form.steps[1]',
    ])
    expect(changes).not.toHaveProperty('publishable')
    expect(changes).not.toHaveProperty('violations')
    expect(changes).not.toHaveProperty('warnings')
    expect(await changesOf(service, form, `?from=${revision.revisionId}&to=live`)).toMatchObject({
      to: changes.from,
      changes: [{ after: 'Later' }, { kind: 'REMOVED' }, { kind: 'REMOVED' }],
    })
  })

  it('compares the latest revision, whether or not it is live', async () => {
    const { service, form, revision } = await given()
    await using _ = service
    const second = await service.given.revision(form)
    const byId = await changesOf(service, form, `?from=${revision.revisionId}&to=${second.revisionId}`)

    expect(await changesOf(service, form, `?from=${revision.revisionId}&to=latest`)).toEqual(byId)
    expect(await changesOf(service, form, '?from=latest')).toMatchObject({ from: byId.to, changes: [] })
  })

  it('lists what a publish of the draft would report, also to viewers', async () => {
    const { service, form } = await given()
    await using _ = service
    await patch(service, form, { steps: [choice('q', ['a', 'b']), start], defaultMode: 'voice' })

    const response = await service.send({ url: `${urlOf(form)}/changes` }, { role: 'viewer', readOnly: true })

    expect(response.statusCode).toBe(200)
    expect(FormChanges.parse(response.json())).toMatchObject({
      publishable: false,
      violations: [
        { type: 'START_STEP', subject: 'form.steps[1]' },
        { type: 'MODE', subject: 'form.defaultMode' },
      ],
    })
  })

  it('takes the AI Handoff of the draft for live, and that of the snapshot for a UUID', async () => {
    const { service, form, revision } = await given()
    await using _ = service
    await service.given.revision(form)
    await patch(service, form, { aiHandoff: { enabled: true } })

    expect((await changesOf(service, form)).changes).toEqual([])
    const bySnapshot = await changesOf(service, form, `?from=${revision.revisionId}`)
    expect(bySnapshot.changes[0]).toMatchObject({ field: 'form.aiHandoff.enabled', after: true })
  })

  it('compares large drafts in a worker thread, with the same result', async () => {
    await using service = await startForms({ inlineLimit: 1_000 })
    const form = await service.given.form({ description: 'd'.repeat(2_000) })
    await service.given.revision(form)
    await patch(service, form, { name: 'Later' })

    expect(await changesOf(service, form)).toMatchObject({
      changes: [{ field: 'form.name' }],
      publishable: false,
      violations: [{ type: 'QUESTIONS' }],
    })
  })

  it('responds to HEAD without a body', async () => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send({ method: 'HEAD', url: `${urlOf(form)}/changes` })

    expect(response).toMatchObject({ statusCode: 200, body: '' })
  })

  it.each(['latest-', 'LIVE', '%20', 'x'.repeat(5_000), '%00%22/../live', randomUUID()])(
    'responds 404 for the revision %s',
    async (ref) => {
      const { service, form } = await given()
      await using _ = service

      const refusal = refusalOf(await service.send({ url: `${urlOf(form)}/changes?from=${ref}` }))

      expect(refusal).toMatchObject({ code: 404, reason: 'REVISION_NOT_FOUND' })
      expect(refusal.metadata.revision).toMatch(/\/revisions\/[\w-]{0,100}$/)
      expect(refusalOf(await service.send({ url: `${urlOf(form)}/changes?to=${ref}` }))).toEqual(refusal)
    },
  )

  it('responds 404 before the first publish, for another form’s revision, and for a missing form', async () => {
    const { service, form, revision } = await given()
    await using _ = service
    const other = await service.given.form()
    const refusal = async (of: StoredForm, query = '') =>
      refusalOf(await service.send({ url: `${urlOf(of)}/changes${query}` })).reason

    expect(await refusal(other)).toBe('REVISION_NOT_FOUND')
    expect(await refusal(other, '?from=latest')).toBe('REVISION_NOT_FOUND')
    expect(await refusal(other, `?from=${revision.revisionId}`)).toBe('REVISION_NOT_FOUND')
    await service.forms.delete({ ...form, formRef: form.formId }, () => {})
    expect(await refusal(form)).toBe('FORM_NOT_FOUND')
    expect(await refusal(form, '?to=live')).toBe('FORM_NOT_FOUND')
  })

  it('does not show forms of another organization', async () => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send({ url: `${urlOf(form)}/changes` }, { organizationId: randomUUID() })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it.each(['?x=1', '?from=live&from=live', '?to=draft&to=draft', '?pageSize=1'])(
    'rejects the query %s',
    async (query) => {
      const { service, form } = await given()
      await using _ = service

      const response = await service.send({ url: `${urlOf(form)}/changes${query}` })

      expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    },
  )

  it('rejects from=draft, and says where draft is allowed', async () => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send({ url: `${urlOf(form)}/changes?from=draft` })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(response.body).toContain('`draft` is allowed only in `to`')
  })

  it.each(['PATCH', 'DELETE', 'POST', 'PUT'] as const)('rejects %s', async (method) => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send({ method, url: `${urlOf(form)}/changes` })

    expect(refusalOf(response)).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
  })
})
