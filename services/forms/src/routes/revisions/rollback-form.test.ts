import { randomUUID } from 'node:crypto'
import { Form, type FormChanges } from '@fms/contracts'
import { parseDraft, parseSnapshot, type StoredForm, type StoredRevision } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

const question = (key: string) => ({ type: 'text', key, title: key })

const rollback = (
  form: StoredForm,
  revisionRef: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => ({
  method: 'POST' as const,
  url: `${urlOf(form)}/revisions/${revisionRef}/rollback`,
  headers,
  ...(body !== undefined && { payload: body as object }),
})

const patch = async (service: FormsService, form: StoredForm, fields: object) => {
  const response = await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: fields } })
  expect(response.statusCode).toBe(200)
  return response
}

/** A form that was published as `First` and as `Second`, and whose draft is `Third`. */
const given = async (options: Parameters<typeof startForms>[0] = {}) => {
  const service = await startForms(options)
  const form = await service.given.form({ name: 'First', steps: [question('q')], tone: 'casual' })
  const first = await service.given.revision(form)
  await patch(service, form, { name: 'Second', steps: [question('q'), question('r')] })
  const second = await service.given.revision(form)
  await patch(service, form, { name: 'Third', steps: [], description: 'New', tone: null })
  return { service, form, first, second }
}

const eventsOf = ({ forms }: FormsService, { organizationId }: StoredForm) =>
  forms.events.read({ organizationId, limit: 100 })

const changesFrom = async (service: FormsService, form: StoredForm, ref: string): Promise<FormChanges> =>
  (await service.send({ url: `${urlOf(form)}/changes?from=${ref}` })).json()

/** Imports a form with one revision, whose snapshot has other members than today's. */
const givenSnapshot = async (service: FormsService, change: (snapshot: Record<string, unknown>) => void) => {
  const form = await service.given.form({ name: 'Draft', description: 'Draft' })
  const revision = await service.given.revision(form)
  const { organizationId, formId, publicId } = form
  const [record] = await Array.fromAsync(service.forms.exportForms(organizationId))
  const snapshot = parseSnapshot(revision) as Record<string, unknown>
  change(snapshot)
  await service.forms.delete({ organizationId, formRef: formId }, () => {})
  const revisions = [{ ...record!.revisions[0]!, form: snapshot as Form }]
  await service.forms.importForm({ ...record!, revisions })
  return { form: { ...form, publicId }, revision }
}

describe('POST /organizations/{organization}/forms/{form}/revisions/{revision}/rollback', () => {
  it('takes all fields of an earlier revision over into the draft, and publishes nothing', async () => {
    const { service, form, first, second } = await given()
    await using _ = service
    const before = (await service.send({ url: urlOf(form) })).json()

    const response = await service.send(rollback(form, first.revisionId))

    expect(response.statusCode).toBe(200)
    expect(response.headers.etag).toBe('"4-live.0"')
    const rolledBack = Form.parse(response.json())
    expect(rolledBack).toMatchObject({
      name: 'First',
      steps: [question('q')],
      tone: 'casual',
      description: '',
    })
    expect(Date.parse(rolledBack.updateTime)).toBeGreaterThan(Date.parse(before.updateTime))
    expect((await service.send({ url: urlOf(form) })).json()).toEqual(rolledBack)
    expect(await changesFrom(service, form, first.revisionId)).toMatchObject({ changes: [] })
    const live = (await service.send({ url: `${urlOf(form)}/revisions/live` })).json()
    expect(live.path).toContain(second.revisionId)
    expect((await service.send({ url: `${urlOf(form)}/revisions` })).json()).toMatchObject({ totalSize: 2 })
  })

  it('throws away with live what was edited since the publish', async () => {
    const { service, form } = await given()
    await using _ = service

    const response = await service.send(rollback(form, 'live', {}))

    expect(response.json()).toMatchObject({ name: 'Second', steps: [question('q'), question('r')] })
    expect(await changesFrom(service, form, 'live')).toMatchObject({ changes: [], publishable: true })
  })

  it('takes the newest revision for latest, also after an unpublish', async () => {
    const { service, form } = await given()
    await using _ = service
    await service.forms.unpublish({ ...form, formRef: form.formId }, '', () => {})

    expect(refusalOf(await service.send(rollback(form, 'live'))).reason).toBe('REVISION_NOT_FOUND')
    const response = await service.send(rollback(form, 'latest'))

    expect(response.json()).toMatchObject({ name: 'Second', live: false })
  })

  it('records an event with the revision and the fields that changed', async () => {
    const { service, form, first } = await given()
    await using _ = service

    await service.send(rollback(form, first.revisionId.toUpperCase()))

    const event = (await eventsOf(service, form)).at(-1)!
    expect(event).toMatchObject({
      type: 'form.rolledBack',
      data: {
        name: 'First',
        revision: `organizations/${form.organizationId}/forms/${form.formId}/revisions/${first.revisionId}`,
        number: 1,
        etag: '"4-live.0"',
        previousEtag: '"3-live.0"',
      },
    })
    expect(event.data.fields!.toSorted()).toEqual(['description', 'name', 'steps', 'tone'])
  })

  it('keeps the AI Handoff of the draft, which respondents see without a publish', async () => {
    const { service, form, second } = await given()
    await using _ = service
    await patch(service, form, { aiHandoff: { enabled: true } })

    for (const ref of ['live', second.revisionId]) {
      const response = await service.send(rollback(form, ref))
      expect(response.json()).toMatchObject({ name: 'Second', aiHandoff: { enabled: true } })
    }
  })

  it('leaves a draft alone that is the same already', async () => {
    const { service, form } = await given()
    await using _ = service
    const first = await service.send(rollback(form, 'live'))
    const count = (await eventsOf(service, form)).length

    const again = await service.send(rollback(form, 'live'))

    expect(again.statusCode).toBe(200)
    expect(again.headers.etag).toBe(first.headers.etag)
    expect(again.json()).toEqual(first.json())
    expect(await eventsOf(service, form)).toHaveLength(count)
  })

  it('fills in the defaults of members that a snapshot of an earlier release lacks', async () => {
    await using service = await startForms()
    const { form, revision } = await givenSnapshot(service, (snapshot) => {
      delete snapshot.tone
      delete snapshot.theme
      snapshot.name = 'Snapshot'
    })
    await patch(service, form, { tone: 'casual', theme: { primaryColor: '#123456' } })

    const response = await service.send(rollback(form, revision.revisionId))

    expect(Form.parse(response.json())).toMatchObject({ name: 'Snapshot', tone: 'professional' })
    expect(parseDraft((await service.everyForm())[0]!).theme).toEqual(parseDraft(form).theme)
  })

  it.each([
    ['on the calling thread', Number.POSITIVE_INFINITY],
    ['in a worker thread', 0],
  ])('rejects a snapshot that the current rules reject, and names the fields, %s', async (_, inlineLimit) => {
    await using service = await startForms({ inlineLimit })
    const { form, revision } = await givenSnapshot(service, (snapshot) => {
      snapshot.name = 'x'.repeat(201)
      snapshot.steps = [question('q'), question('q')]
    })
    const before = await service.everyForm()

    for (const body of [{}, { validateOnly: true }]) {
      const response = await service.send(rollback(form, revision.revisionId, body))
      expect(refusalOf(response)).toMatchObject({
        code: 400,
        status: 'FAILED_PRECONDITION',
        reason: 'REVISION_NOT_RESTORABLE',
        metadata: { subject: 'form.name' },
      })
      expect(response.json().error.details[1].violations).toEqual([
        { type: 'FIELD_INVALID', subject: 'form.name', description: 'must have 1 to 200 characters' },
        { type: 'FIELD_INVALID', subject: 'form.steps[1].key', description: 'repeats the key of steps[0]' },
      ])
    }
    expect(await service.everyForm()).toEqual(before)
  })

  it('changes nothing in a dry run, and returns the form as it would be', async () => {
    const { service, form, first } = await given()
    await using _ = service
    const before = await service.everyForm()

    const dry = await service.send(rollback(form, first.revisionId, { validateOnly: true }))

    expect(dry.statusCode).toBe(200)
    expect(dry.headers.etag).toBeUndefined()
    expect(await service.everyForm()).toEqual(before)
    const real = await service.send(rollback(form, first.revisionId))
    expect(dry.json()).toEqual(real.json())
  })

  it('rejects a stale ETag, also in a dry run, and accepts that of the draft', async () => {
    const { service, form } = await given()
    await using _ = service
    const before = await service.everyForm()

    for (const body of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(
        await service.send(rollback(form, 'live', body, { 'if-match': '"2-live.0"' })),
      )
      expect(refusal).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag: '"3-live.0"' } })
    }
    expect(await service.everyForm()).toEqual(before)
    const accepted = await service.send(rollback(form, 'live', {}, { 'if-match': '"3-draft.0"' }))
    expect(accepted.statusCode).toBe(200)
  })

  it('is rejected when the draft grows beyond the quota, also in a dry run', async () => {
    const quota = { forms: 0, bytes: 20_000 }
    await using service = await startForms({ quota })
    const form = await service.given.form({ description: 'd'.repeat(4_000) })
    const { revisionId } = await service.given.revision(form)
    await patch(service, form, { description: '' })
    const { bytes } = await service.forms.usage(form.organizationId)
    // Leaves less room than the description and an event need.
    await service.given.form({ context: ['c'.repeat(quota.bytes - bytes - 6_000)] })

    for (const body of [{}, { validateOnly: true }]) {
      const refusal = refusalOf(await service.send(rollback(form, revisionId, body)))
      expect(refusal).toMatchObject({ code: 429, reason: 'QUOTA_EXCEEDED' })
    }
  })

  it('rolls large drafts back in a worker thread, with the same result', async () => {
    const { service, form, first } = await given({ inlineLimit: 1_000 })
    await using _ = service

    const response = await service.send(rollback(form, first.revisionId))

    expect(Form.parse(response.json())).toMatchObject({ name: 'First', steps: [question('q')] })
    expect(await changesFrom(service, form, first.revisionId)).toMatchObject({ changes: [] })
  })

  it('responds 404 for a missing revision or form, and for a revision of another form', async () => {
    const { service, form, second } = await given()
    await using _ = service
    const other = await service.given.form()
    const refusal = async (of: StoredForm, ref: string, body: object = {}) =>
      refusalOf(await service.send(rollback(of, ref, body)))

    for (const body of [{}, { validateOnly: true }]) {
      for (const ref of ['draft', 'LIVE', randomUUID()]) {
        expect(await refusal(form, ref, body)).toMatchObject({ code: 404, reason: 'REVISION_NOT_FOUND' })
      }
      expect(await refusal(other, 'live', body)).toMatchObject({ reason: 'REVISION_NOT_FOUND' })
      expect(await refusal(other, second.revisionId, body)).toMatchObject({ reason: 'REVISION_NOT_FOUND' })
      const missing = { ...form, formId: randomUUID() }
      expect(await refusal(missing, second.revisionId, body)).toMatchObject({ reason: 'FORM_NOT_FOUND' })
    }
  })

  it('rejects viewers, read-only keys, another organization and invalid requests', async () => {
    const { service, form } = await given()
    await using _ = service
    const before = await service.everyForm()
    const reasonOf = async (...[request, identity]: Parameters<FormsService['send']>) =>
      refusalOf(await service.send(request, identity)).reason

    expect(await reasonOf(rollback(form, 'live'), { role: 'viewer' })).toBe('WRITE_FORBIDDEN')
    expect(await reasonOf(rollback(form, 'live'), { readOnly: true })).toBe('WRITE_FORBIDDEN')
    const elsewhere = { organizationId: randomUUID() }
    expect(await reasonOf(rollback(form, 'live'), elsewhere)).toBe('ORGANIZATION_NOT_FOUND')
    for (const body of [{ validateOnly: 1 }, { note: '' }, []]) {
      expect(await reasonOf(rollback(form, 'live', body))).toBe('INVALID_REQUEST')
    }
    const query = { ...rollback(form, 'live'), url: `${urlOf(form)}/revisions/live/rollback?x=1` }
    expect(await reasonOf(query)).toBe('INVALID_REQUEST')
    const read = { ...rollback(form, 'live'), method: 'GET' as const }
    expect(await reasonOf(read)).toBe('METHOD_NOT_ALLOWED')
    expect(await service.everyForm()).toEqual(before)
  })

  it('keeps all of ten concurrent rollbacks and patches in the log', async () => {
    const { service, form, first, second } = await given()
    await using _ = service
    const refs: StoredRevision[] = [first, second]

    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0
          ? service.send(rollback(form, refs[(index / 2) % 2]!.revisionId))
          : patch(service, form, { description: `Edit ${index}` }),
      ),
    )

    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
    const log = await eventsOf(service, form)
    const [stored] = await service.everyForm()
    expect(log.at(-1)!.data.etag).toBe(`"${stored!.version}-live.0"`)
    const versions = log.filter(({ type }) => /updated|rolledBack/.test(type)).length
    expect(stored!.version).toBe(versions + 1)
  })
})
