import { randomUUID } from 'node:crypto'
import { formPath, Revision } from '@fms/contracts'
import { parseSnapshot } from '@fms/forms-store'
import { describe, expect, it, vi } from 'vitest'
import { refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

describe('GET /organizations/{organization}/forms/{form}/revisions/{revision}', () => {
  it('returns the form as published, after a change of the draft', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      name: 'Published',
      steps: [{ type: 'rating', key: 'r', scale: [1, null] }],
    })
    service.clock.now = new Date('2026-11-20T10:00:00.000Z')
    const revision = await service.given.revision(form)
    await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: { name: 'Draft', steps: [] } } })

    for (const ref of ['live', 'latest', revision.revisionId, revision.revisionId.toUpperCase()]) {
      const response = await service.send({ url: `${urlOf(form)}/revisions/${ref}` })

      expect(response.statusCode).toBe(200)
      expect(Revision.parse(response.json())).toEqual({
        path: `${formPath(form)}/revisions/${revision.revisionId}`,
        alternateIds: ['live'],
        createTime: '2026-11-20T10:00:00.000Z',
        number: 1,
        publisher: '',
        note: '',
        form: { ...parseSnapshot(revision), name: 'Published', live: true },
      })
      expect(response.json().form).toEqual(parseSnapshot(revision))
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

  it('marks only the latest revision as live', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const first = await service.given.revision(form)
    const second = await service.given.revision(form)
    const read = async (ref: string) =>
      Revision.parse((await service.send({ url: `${urlOf(form)}/revisions/${ref}` })).json())

    expect((await read(first.revisionId)).alternateIds).toEqual([])
    expect((await read(second.revisionId)).alternateIds).toEqual(['live'])
    expect(await read('live')).toEqual(await read(second.revisionId))
    expect(await read('latest')).toEqual(await read(second.revisionId))
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

    expect(await read('live')).toEqual({ ...parseSnapshot(revision), aiHandoff: { enabled: true } })
    for (const ref of [revision.revisionId, 'latest']) {
      expect(await read(ref)).toEqual(parseSnapshot(revision))
    }
  })

  it.each(['live', 'latest'])('finds no revision %s before the first publish', async (ref) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({ url: `${urlOf(form)}/revisions/${ref}` })

    expect(refusalOf(response)).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      reason: 'REVISION_NOT_FOUND',
      metadata: { revision: `${formPath(form)}/revisions/${ref}` },
    })
  })

  it.each([randomUUID(), 'LIVE', 'Latest', '1', '%00', '__proto__', 'a%20b'])(
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

  it.each(['live', 'latest', randomUUID()])(
    'responds FORM_NOT_FOUND to revision %s of a missing form',
    async (ref) => {
      await using service = await startForms()
      const form = await service.given.form()

      const response = await service.send({
        url: `${urlOf({ ...form, formId: randomUUID() })}/revisions/${ref}`,
      })

      expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
    },
  )

  it('returns no revision of another organization', async () => {
    await using service = await startForms()
    const foreign = await service.given.form({}, randomUUID())
    const { revisionId } = await service.given.revision(foreign)
    const asMine = urlOf({ ...foreign, organizationId: service.organizationId })

    for (const ref of ['live', 'latest', revisionId]) {
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

  it('serves viewers, and HEAD without a body', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    await service.given.revision(form)
    const url = `${urlOf(form)}/revisions/live`

    expect((await service.send({ url }, { role: 'viewer', readOnly: true })).statusCode).toBe(200)
    expect(await service.send({ method: 'HEAD', url })).toMatchObject({ statusCode: 200, body: '' })
  })

  describe('with If-None-Match', () => {
    const given = async () => {
      const service = await startForms()
      const form = await service.given.form()
      const revision = await service.given.revision(form)
      const get = (ref: string, etag?: string) =>
        service.send({
          url: `${urlOf(form)}/revisions/${ref}`,
          headers: etag === undefined ? {} : { 'if-none-match': etag },
        })
      const etagOf = async (ref: string) => (await get(ref)).headers.etag as string
      return { service, form, revision, get, etagOf }
    }

    it('responds 304 without a body while the copy is current, without reading the snapshot', async () => {
      const { service, revision, get, etagOf } = await given()
      await using _ = service
      const read = vi.spyOn(service.forms, 'getRevision')

      for (const ref of ['live', 'latest', revision.revisionId]) {
        const etag = await etagOf(ref)
        expect(read).toHaveBeenCalled()
        expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/)
        read.mockClear()
        for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          expect(await get(ref, tag)).toMatchObject({ statusCode: 304, body: '', headers: { etag } })
        }
        expect(read).not.toHaveBeenCalled()
        expect(await get(ref, '"other"')).toMatchObject({ statusCode: 200, headers: { etag } })
      }
    })

    it('of live changes only with the live revision and the AI Handoff of the draft', async () => {
      const { service, form, get, etagOf } = await given()
      await using _ = service
      const first = await etagOf('live')
      const patch = (fields: object) =>
        service.send({ method: 'PATCH', url: urlOf(form), payload: { form: fields } })

      await patch({ name: 'Later' })
      await service.given.reply(form)
      expect((await get('live', first)).statusCode).toBe(304)

      await patch({ aiHandoff: { enabled: true } })
      const second = await get('live', first)
      expect(second.statusCode).toBe(200)
      expect(second.json().form).toMatchObject({ name: 'Untitled form', aiHandoff: { enabled: true } })

      await service.given.revision(form)
      const third = await get('live', second.headers.etag as string)
      expect(third.statusCode).toBe(200)
      expect(third.json().form.name).toBe('Later')
    })

    it('of latest changes with each publish, and not with the AI Handoff of the draft', async () => {
      const { service, form, get, etagOf } = await given()
      await using _ = service
      const first = await etagOf('latest')

      const payload = { form: { aiHandoff: { enabled: true } } }
      await service.send({ method: 'PATCH', url: urlOf(form), payload })
      expect((await get('latest', first)).statusCode).toBe(304)

      await service.given.revision(form)
      const second = await get('latest', first)
      expect(second.statusCode).toBe(200)
      expect(second.json()).toMatchObject({ number: 2, form: { aiHandoff: { enabled: true } } })
    })

    it('of a revision by its UUID changes when another becomes live', async () => {
      const { service, form, revision, get, etagOf } = await given()
      await using _ = service
      const etag = await etagOf(revision.revisionId)

      await service.given.revision(form)

      const response = await get(revision.revisionId, etag)
      expect(response.statusCode).toBe(200)
      expect(response.json().alternateIds).toEqual([])
    })

    it.each(['', '?readMask=*', '?readMask=number,form'])(
      'leaves Cache-Control to the gateway for a revision by its UUID with the query %j',
      async (query) => {
        const { service, revision, form, get } = await given()
        await using _ = service
        const first = await get(revision.revisionId + query)

        await service.given.revision(form)

        const later = await get(revision.revisionId + query, first.headers.etag as string)
        expect(later.statusCode).toBe(200)
        for (const { headers } of [first, later]) expect(headers).not.toHaveProperty('cache-control')
      },
    )

    it('responds 404 for a missing form or revision, without a Cache-Control that keeps it', async () => {
      const { service, form, get } = await given()
      await using _ = service

      const missing = await get(`${randomUUID()}?readMask=form`, '*')
      expect(refusalOf(missing)).toMatchObject({ reason: 'REVISION_NOT_FOUND' })
      expect(missing.headers['cache-control']).toBe('no-store')
      await service.forms.delete({ ...form, formRef: form.formId }, () => {})
      expect(refusalOf(await get('live', '*'))).toMatchObject({ reason: 'FORM_NOT_FOUND' })
    })
  })

  it.each(['?x=1', '?x=1&x=2', '?pageSize=1'])('rejects the query %s', async (query) => {
    await using service = await startForms()
    const form = await service.given.form()
    await service.given.revision(form)

    const response = await service.send({ url: `${urlOf(form)}/revisions/live${query}` })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })

  it.each(['PATCH', 'DELETE', 'POST', 'PUT'] as const)(
    'rejects %s: a revision is immutable',
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
