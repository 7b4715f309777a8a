import { randomUUID } from 'node:crypto'
import { formPath, Revision } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { refusalOf, startForms, urlOf } from '../testing.ts'

describe('GET /organizations/{organization}/forms/{form}/revisions/{revision}', () => {
  it('answers the form as it was published, whatever became of the draft', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      name: 'Published',
      steps: [{ type: 'rating', key: 'r', scale: [1, null] }],
    })
    service.clock.now = new Date('2026-11-20T10:00:00.000Z')
    const revision = await service.given.revision(form)
    await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: { name: 'Draft', steps: [] } } })

    for (const ref of ['live', revision.revisionId, revision.revisionId.toUpperCase()]) {
      const response = await service.send({ url: `${urlOf(form)}/revisions/${ref}` })

      expect(response.statusCode).toBe(200)
      expect(Revision.parse(response.json())).toEqual({
        path: `${formPath(form)}/revisions/${revision.revisionId}`,
        alternateIds: ['live'],
        createTime: '2026-11-20T10:00:00.000Z',
        form: { ...revision.form, name: 'Published', live: true },
      })
      expect(response.json().form).toEqual(revision.form)
    }
  })

  it('finds the form by its public id', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const revision = await service.given.revision(form)

    const response = await service.send({
      url: `/organizations/${service.organizationId}/forms/${form.publicId}/revisions/live`,
    })

    expect(Revision.parse(response.json()).path).toBe(`${formPath(form)}/revisions/${revision.revisionId}`)
  })

  it('calls the latest revision live and no other', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const first = await service.given.revision(form)
    const second = await service.given.revision(form)
    const read = async (ref: string) =>
      Revision.parse((await service.send({ url: `${urlOf(form)}/revisions/${ref}` })).json())

    expect((await read(first.revisionId)).alternateIds).toEqual([])
    expect((await read(second.revisionId)).alternateIds).toEqual(['live'])
    expect(await read('live')).toEqual(await read(second.revisionId))
  })

  it('shows the AI Handoff of the current form as live, and that of the snapshot by id', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const revision = await service.given.revision(form)
    await service.send({
      method: 'PATCH',
      url: urlOf(form),
      payload: { form: { aiHandoff: { enabled: true }, voice: { enabled: true } } },
    })
    const read = async (ref: string) =>
      Revision.parse((await service.send({ url: `${urlOf(form)}/revisions/${ref}` })).json()).form

    expect(await read('live')).toEqual({ ...revision.form, aiHandoff: { enabled: true } })
    expect(await read(revision.revisionId)).toEqual(revision.form)
  })

  it('finds nothing live before the first publish', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({ url: `${urlOf(form)}/revisions/live` })

    expect(refusalOf(response)).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      reason: 'REVISION_NOT_FOUND',
      metadata: { revision: `${formPath(form)}/revisions/live` },
    })
  })

  it.each([randomUUID(), 'LIVE', '1', '%00', '__proto__', 'a%20b'])(
    'does not find the revision %s',
    async (ref) => {
      await using service = await startForms()
      const form = await service.given.form()
      await service.given.revision(form)

      const response = await service.send({ url: `${urlOf(form)}/revisions/${ref}` })

      expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'REVISION_NOT_FOUND' })
    },
  )

  it('does not find the revision of another form', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const { revisionId } = await service.given.revision(await service.given.form())

    const response = await service.send({ url: `${urlOf(form)}/revisions/${revisionId}` })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'REVISION_NOT_FOUND' })
  })

  it.each(['live', randomUUID()])('finds no form, so no revision %s', async (ref) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({
      url: `${urlOf({ ...form, formId: randomUUID() })}/revisions/${ref}`,
    })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
  })

  it('shows nothing of another organization', async () => {
    await using service = await startForms()
    const foreign = await service.given.form({}, randomUUID())
    const { revisionId } = await service.given.revision(foreign)
    const asMine = urlOf({ ...foreign, organizationId: service.organizationId })

    for (const ref of ['live', revisionId]) {
      expect(refusalOf(await service.send({ url: `${asMine}/revisions/${ref}` }))).toMatchObject({
        code: 404,
        reason: 'FORM_NOT_FOUND',
      })
      expect(refusalOf(await service.send({ url: `${urlOf(foreign)}/revisions/${ref}` }))).toMatchObject({
        code: 404,
        reason: 'ORGANIZATION_NOT_FOUND',
      })
    }
  })

  it('answers viewers, and HEAD without a body', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    await service.given.revision(form)
    const url = `${urlOf(form)}/revisions/live`

    expect((await service.send({ url }, { role: 'viewer', readOnly: true })).statusCode).toBe(200)
    expect(await service.send({ method: 'HEAD', url })).toMatchObject({ statusCode: 200, body: '' })
  })

  it.each(['?x=1', '?x=1&x=2', '?pageSize=1'])('refuses the query %s', async (query) => {
    await using service = await startForms()
    const form = await service.given.form()
    await service.given.revision(form)

    const response = await service.send({ url: `${urlOf(form)}/revisions/live${query}` })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })

  it.each(['PATCH', 'DELETE', 'POST', 'PUT'] as const)(
    'is not there for %s: a revision never changes',
    async (method) => {
      await using service = await startForms()
      const form = await service.given.form()
      await service.given.revision(form)

      const response = await service.send({ method, url: `${urlOf(form)}/revisions/live` })

      expect(refusalOf(response)).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
      expect(response.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD'])
    },
  )
})
