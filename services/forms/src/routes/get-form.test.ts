import { randomUUID } from 'node:crypto'
import { Form, formPath } from '@fms/contracts'
import { parseDraft, type StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { refusalOf, startForms, testBaseUrl, urlOf } from '../testing/start-forms.ts'

const get = (form: StoredForm, headers: Record<string, string> = {}) => ({
  method: 'GET' as const,
  url: urlOf(form),
  headers,
})

describe('GET /organizations/{organization}/forms/{form}', () => {
  it('returns the current draft with the output-only fields', async () => {
    await using service = await startForms()
    const form = await service.given.form({
      name: 'Intake',
      steps: [{ type: 'rating', key: 'r', scale: [1, null] }],
    })

    const response = await service.send(get(form))

    expect(response.statusCode).toBe(200)
    expect(Form.parse(response.json())).toEqual({
      ...parseDraft(form),
      path: formPath(form),
      publicId: form.publicId,
      publicUrl: `${testBaseUrl}/${form.publicId}`,
      createTime: '2026-11-20T09:30:00.000Z',
      updateTime: '2026-11-20T09:30:00.000Z',
      live: false,
      replyCount: 0,
    })
    expect(response.json().steps).toEqual([{ type: 'rating', key: 'r', scale: [1, null] }])
  })

  it.each([
    ['its id', ({ formId }: StoredForm) => formId],
    ['its id in upper case', ({ formId }: StoredForm) => formId.toUpperCase()],
    ['its public id', ({ publicId }: StoredForm) => publicId],
  ])('finds a form by %s, and returns its canonical path', async (_, refOf) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({
      url: `/organizations/${service.organizationId}/forms/${refOf(form)}`,
    })

    expect(Form.parse(response.json()).path).toBe(formPath(form))
  })

  it.each([
    ['an unknown id', randomUUID()],
    ['an unknown public id', 'aaaaaaaaaa'],
    ['the nil id', '00000000-0000-0000-0000-000000000000'],
    ['what can be no id', 'no%20such%20form'],
    ['a NUL', '%00'],
    ['a broken percent-encoding', '%ff%'],
    ['a path in disguise', '..%2F..%2Fforms'],
    ['a word of JavaScript', '__proto__'],
  ])('does not find %s', async (_, ref) => {
    await using service = await startForms()
    await service.given.form()

    const response = await service.send({ url: `/organizations/${service.organizationId}/forms/${ref}` })

    expect(refusalOf(response)).toMatchObject({ code: 404, status: 'NOT_FOUND', reason: 'FORM_NOT_FOUND' })
  })

  it('responds to a form of another organization exactly as to a missing one', async () => {
    await using service = await startForms()
    const foreign = await service.given.form({}, randomUUID())
    const missing = randomUUID()
    const answerTo = async (ref: string) => {
      const response = await service.send({
        url: `/organizations/${service.organizationId}/forms/${ref}`,
        headers: { 'x-request-id': 'same' },
      })
      return [response.statusCode, response.body.replaceAll(ref, 'REF')]
    }

    expect(await answerTo(foreign.formId)).toEqual(await answerTo(missing))
    expect(await answerTo(foreign.publicId)).toEqual(await answerTo('aaaaaaaaaa'))
  })

  it('serves only the organization of the identity token', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(get(form), { organizationId: randomUUID() })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it('serves viewers and read-only keys', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    expect((await service.send(get(form), { role: 'viewer', readOnly: true })).statusCode).toBe(200)
  })

  it('has a strong ETag that changes with the draft, a publish and a reply', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const readTag = async () => (await service.send(get(form))).headers.etag as string

    const created = await readTag()
    const again = await readTag()
    await service.send({ method: 'PATCH', url: urlOf(form), payload: { form: { tone: 'dry' } } })
    const patched = await readTag()
    await service.given.revision(form)
    const published = await readTag()
    await service.given.reply(form)
    const replied = await readTag()

    expect(created).toMatch(/^"[!\x23-\x7e]+"$/)
    expect(again).toBe(created)
    expect(new Set([created, patched, published, replied]).size).toBe(4)
  })

  it.each([
    ['the tag', (etag: string) => etag],
    ['the tag made weak', (etag: string) => `W/${etag}`],
    ['a list that has it', (etag: string) => `"other", ${etag}`],
    ['any', () => '*'],
  ])('responds 304 without a body when If-None-Match is %s', async (_, headerOf) => {
    await using service = await startForms()
    const form = await service.given.form()
    const etag = (await service.send(get(form))).headers.etag as string

    const response = await service.send(get(form, { 'if-none-match': headerOf(etag) }))

    expect(response.statusCode).toBe(304)
    expect(response.body).toBe('')
    expect(response.headers).toMatchObject({ etag })
    // An HTTP client fails when it differs from the length of the body.
    expect(response.headers).not.toHaveProperty('content-length')
  })

  it.each([
    ['another tag', '"other"'],
    ['the version alone', '"1-"'],
    ['no tag at all', 'nonsense'],
  ])('returns the form when If-None-Match is %s', async (_, header) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send(get(form, { 'if-none-match': header }))

    expect(response.statusCode).toBe(200)
    Form.parse(response.json())
  })

  it('returns the form again after a reply or a publish, because the whole tag is compared', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const first = (await service.send(get(form))).headers.etag as string
    await service.given.reply(form)
    const replied = await service.send(get(form, { 'if-none-match': first }))
    await service.given.revision(form)
    const published = await service.send(get(form, { 'if-none-match': replied.headers.etag as string }))

    expect(Form.parse(replied.json())).toMatchObject({ replyCount: 1, live: false })
    expect(Form.parse(published.json())).toMatchObject({ replyCount: 1, live: true })
  })

  it('ignores If-Match', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    expect((await service.send(get(form, { 'if-match': '"stale"' }))).statusCode).toBe(200)
  })

  it('responds to HEAD with the same headers and no body', async () => {
    await using service = await startForms()
    const form = await service.given.form()
    const read = await service.send(get(form))

    const response = await service.send({ ...get(form), method: 'HEAD' })

    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('')
    expect(response.headers).toMatchObject({
      etag: read.headers.etag,
      'content-type': read.headers['content-type'],
      'content-length': read.headers['content-length'],
    })
  })

  it.each(['?view=full', '?validateOnly=true', '?a=1&a=2', '?__proto__=1', '?='])(
    'rejects the query %s',
    async (query) => {
      await using service = await startForms()
      const form = await service.given.form()

      const response = await service.send({ url: urlOf(form) + query })

      expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    },
  )

  it('accepts a content-type without a body', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    expect((await service.send(get(form, { 'content-type': 'text/plain' }))).statusCode).toBe(200)
  })

  it.each(['/', '//', '/Revisions'])('responds 404 to its path with %s appended', async (rest) => {
    await using service = await startForms()
    const form = await service.given.form()

    expect(refusalOf(await service.send({ url: urlOf(form) + rest }))).toMatchObject({
      reason: 'PATH_NOT_FOUND',
    })
  })

  it.each(['PUT', 'POST', 'OPTIONS'] as const)('rejects %s', async (method) => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({ method, url: urlOf(form) })

    expect(refusalOf(response)).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
    expect(response.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH'])
  })
})
