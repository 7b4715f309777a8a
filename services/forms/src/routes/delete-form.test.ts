import { randomUUID } from 'node:crypto'
import { EmptyResponse } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const remove = (
  form: StoredForm,
  {
    query = '',
    body,
    headers = {},
  }: { query?: string; body?: object | string; headers?: Record<string, string> } = {},
) => ({
  method: 'DELETE' as const,
  url: urlOf(form) + query,
  headers,
  ...(body !== undefined && { payload: body }),
})

describe('DELETE /organizations/{organization}/forms/{form}', () => {
  it.each([
    ['no body', {}],
    ['an empty object', { body: {} }],
    ['an empty body of JSON', { headers: { 'content-type': 'application/json' } }],
    ['validateOnly false in the body', { body: { validateOnly: false } }],
    ['validateOnly false in the query', { query: '?validateOnly=false' }],
    ['validateOnly false in both', { query: '?validateOnly=false', body: { validateOnly: false } }],
  ])('returns an empty object for %s, and later reads find nothing', async (_, request) => {
    await using service = await startForms()
    const form = await service.given.form()
    const other = await service.given.form()
    const revision = await service.given.revision(form)

    const response = await service.send(remove(form, request))

    expect(response.statusCode).toBe(200)
    expect(EmptyResponse.parse(response.json())).toEqual({})
    for (const path of ['', '/revisions', '/revisions/live', `/revisions/${revision.revisionId}`]) {
      const read = await service.send({ url: urlOf(form) + path })
      expect(refusalOf(read)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
    }
    expect(await service.everyForm()).toEqual([other])
  })

  it('deletes by public id', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({
      method: 'DELETE',
      url: `/organizations/${service.organizationId}/forms/${form.publicId}`,
    })

    expect(response.statusCode).toBe(200)
    expect(await service.everyForm()).toEqual([])
  })

  it('finds nothing the second time', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    await service.send(remove(form))

    expect(refusalOf(await service.send(remove(form)))).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      reason: 'FORM_NOT_FOUND',
    })
  })

  it.each([
    ['the body', { body: { validateOnly: true } }],
    ['the query', { query: '?validateOnly=true' }],
    ['both', { query: '?validateOnly=true', body: { validateOnly: true } }],
    ['the query beside an empty object', { query: '?validateOnly=true', body: {} }],
  ])('deletes nothing with validateOnly in %s', async (_, request) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(remove(form, request))

    expect(response.statusCode).toBe(200)
    expect(EmptyResponse.parse(response.json())).toEqual({})
    expect(response.headers.etag).toBeUndefined()
    expect(await service.everyForm()).toEqual([form])
  })

  it.each([
    ['?validateOnly=true', false],
    ['?validateOnly=false', true],
  ])('rejects %s with a body of %s', async (query, validateOnly) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(remove(form, { query, body: { validateOnly } }))

    expect(refusalOf(response)).toMatchObject({
      code: 400,
      reason: 'INVALID_REQUEST',
      violations: [{ field: 'validateOnly', description: 'must be the same in body and query' }],
    })
    expect(await service.everyForm()).toEqual([form])
  })

  it.each([
    ['validateOnly=1', 'validateOnly'],
    ['validateOnly=', 'validateOnly'],
    ['validateOnly=TRUE', 'validateOnly'],
    ['validateOnly=true&validateOnly=true', 'validateOnly'],
    ['validateonly=true', 'validateonly'],
    ['force=true', 'force'],
  ])('rejects the query %s', async (query, field) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(remove(form, { query: `?${query}` }))

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields: [field] })
    expect(await service.everyForm()).toEqual([form])
  })

  it.each([
    ['a misspelt member', { validateonly: true }, ['validateonly']],
    ['a null in an unknown member', { force: null }, ['force']],
    ['a word for a boolean', { validateOnly: 'true' }, ['validateOnly']],
    ['null for a boolean', { validateOnly: null }, ['validateOnly']],
    ['a list for an object', [], ['']],
  ])('rejects %s', async (_, body, fields) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(remove(form, { body }))

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST', fields })
    expect(await service.everyForm()).toEqual([form])
  })

  it('rejects a body of null, malformed JSON, or another media type', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const json = { 'content-type': 'application/json' }

    const none = await service.send(remove(form, { body: 'null', headers: json }))
    const broken = await service.send(remove(form, { body: '{', headers: json }))
    const untyped = await service.send(remove(form, { body: '{"validateOnly":true}' }))

    expect(refusalOf(none)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(refusalOf(broken)).toMatchObject({ code: 400, reason: 'MALFORMED_JSON' })
    expect(refusalOf(untyped)).toMatchObject({ code: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' })
    expect(await service.everyForm()).toEqual([form])
  })

  describe('If-Match', () => {
    const dryOrNot = [{}, { query: '?validateOnly=true' }]

    it('rejects a stale or weak tag, and leaves the form unchanged', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const etag = (await service.send({ url: urlOf(form) })).headers.etag as string

      for (const header of ['"2-draft.0"', `W/${etag}`]) {
        for (const request of dryOrNot) {
          const response = await service.send(remove(form, { ...request, headers: { 'if-match': header } }))
          expect(refusalOf(response)).toMatchObject({ code: 412, reason: 'FORM_MOVED', metadata: { etag } })
        }
      }
      expect(await service.everyForm()).toEqual([form])
    })

    it('rejects an unquoted tag', async () => {
      await using service = await startForms()
      const form = await service.given.form()

      for (const request of dryOrNot) {
        const response = await service.send(
          remove(form, { ...request, headers: { 'if-match': '1-draft.0' } }),
        )
        expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_IF_MATCH' })
      }
      expect(await service.everyForm()).toEqual([form])
    })

    it('matches a tag from before a reply and a publish', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const etag = (await service.send({ url: urlOf(form) })).headers.etag as string
      await service.given.reply(form)
      await service.given.revision(form)

      const response = await service.send(remove(form, { headers: { 'if-match': `"other", ${etag}` } }))

      expect(response.statusCode).toBe(200)
      expect(await service.everyForm()).toEqual([])
    })

    it('matches any existing form with *', async () => {
      await using service = await startForms()
      const form = await service.given.form()
      const any = { headers: { 'if-match': '*' } }

      expect((await service.send(remove(form, any))).statusCode).toBe(200)
      expect((await service.send(remove(form, any))).statusCode).toBe(404)
    })
  })

  it('rejects a dry run as it rejects the real request', async () => {
    await using service = await startForms()
    const missing = { ...(await service.given.form()), formId: randomUUID() }

    for (const query of ['', '?validateOnly=true']) {
      expect(refusalOf(await service.send(remove(missing, { query })))).toMatchObject({
        reason: 'FORM_NOT_FOUND',
      })
      expect(refusalOf(await service.send(remove(missing, { query }), { role: 'viewer' }))).toMatchObject({
        code: 403,
        reason: 'WRITE_FORBIDDEN',
      })
      expect(refusalOf(await service.send(remove(missing, { query }), { readOnly: true }))).toMatchObject({
        code: 403,
        reason: 'WRITE_FORBIDDEN',
      })
    }
  })

  it('deletes no form of another organization', async () => {
    await using service = await startForms()
    const other = randomUUID()
    const foreign = await service.given.form({}, other)

    const asMine = await service.send(remove({ ...foreign, organizationId: service.organizationId }))
    const asTheirs = await service.send(remove(foreign))

    expect(refusalOf(asMine)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
    expect(refusalOf(asTheirs)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
    expect(await service.forms.get({ organizationId: other, formRef: foreign.formId })).toEqual(foreign)
  })
})
