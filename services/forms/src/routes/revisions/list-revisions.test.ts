import { randomUUID } from 'node:crypto'
import { formPath, ListRevisionsResponse } from '@fms/contracts'
import { parseSnapshot, type StoredForm } from '@fms/forms-store'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

const urlWith = (form: StoredForm, query: Record<string, string | number> = {}) =>
  `${urlOf(form)}/revisions?${new URLSearchParams(query as Record<string, string>)}`

const list = async (service: FormsService, form: StoredForm, query: Record<string, string | number> = {}) => {
  const response = await service.send({ url: urlWith(form, query) })
  expect(response.statusCode).toBe(200)
  return ListRevisionsResponse.parse(response.json())
}

/** A form with `count` revisions, newest first. */
const published = async (service: FormsService, count: number) => {
  const form = await service.given.form()
  const paths: string[] = []
  for (let made = 0; made < count; made++) {
    paths.unshift(`${formPath(form)}/revisions/${(await service.given.revision(form)).revisionId}`)
  }
  return { form, paths }
}

const pathsOf = ({ revisions }: ListRevisionsResponse) => revisions.map(({ path }) => path)

describe('GET /organizations/{organization}/forms/{form}/revisions', () => {
  it('is empty before the first publish', async () => {
    await using service = await startForms()

    expect(await list(service, await service.given.form())).toEqual({
      revisions: [],
      nextPageToken: '',
      totalSize: 0,
    })
  })

  it('lists the newest first, and marks it as live', async () => {
    await using service = await startForms()
    const { form, paths } = await published(service, 3)
    await published(service, 1)

    const page = await list(service, form)

    expect(pathsOf(page)).toEqual(paths)
    expect(page.revisions.map(({ alternateIds }) => alternateIds)).toEqual([['live'], [], []])
    expect(page).toMatchObject({ totalSize: 3, nextPageToken: '' })
  })

  it('returns each snapshot unchanged, including AI Handoff', async () => {
    await using service = await startForms()
    const form = await service.given.form({ name: 'First' })
    const first = await service.given.revision(form)
    await service.send({
      method: 'PATCH',
      url: urlOf(form),
      payload: { form: { name: 'Second', aiHandoff: { enabled: true } } },
    })
    const second = await service.given.revision(form)

    expect((await list(service, form)).revisions.map(({ form }) => form)).toEqual(
      [second, first].map(parseSnapshot),
    )
  })

  it.each([
    ['omitted', {}],
    ['0', { pageSize: 0 }],
  ])('has pages of 10 when pageSize is %s', async (_, query) => {
    await using service = await startForms()
    const { form, paths } = await published(service, 11)

    const first = await list(service, form, query)
    const second = await list(service, form, { ...query, pageToken: first.nextPageToken })

    expect(first.totalSize).toBe(11)
    expect([pathsOf(first), pathsOf(second)]).toEqual([paths.slice(0, 10), paths.slice(10)])
    expect(second).toMatchObject({ totalSize: 11, nextPageToken: '' })
  })

  it('neither repeats nor misses a revision while others are published', async () => {
    await using service = await startForms()
    const { form, paths } = await published(service, 5)

    const first = await list(service, form, { pageSize: 2 })
    await service.given.revision(form)
    const second = await list(service, form, { pageSize: 2, pageToken: first.nextPageToken })
    await service.given.revision(form)
    const third = await list(service, form, { pageSize: 2, pageToken: second.nextPageToken })

    expect([first, second, third].flatMap(pathsOf)).toEqual(paths)
    expect(third).toMatchObject({ totalSize: 7, nextPageToken: '' })
  })

  it('skips from the end of the previous page, and returns an empty page past the end', async () => {
    await using service = await startForms()
    const { form, paths } = await published(service, 5)

    const first = await list(service, form, { pageSize: 1, skip: 1 })
    const second = await list(service, form, { pageSize: 3, skip: 1, pageToken: first.nextPageToken })
    const beyond = await list(service, form, { skip: 5 })

    expect(pathsOf(first)).toEqual([paths[1]])
    expect(pathsOf(second)).toEqual(paths.slice(3))
    expect(second.nextPageToken).toBe('')
    expect(beyond).toEqual({ revisions: [], nextPageToken: '', totalSize: 5 })
  })

  it("accepts a token with the form's id or public id, but not for another form", async () => {
    await using service = await startForms()
    const { form, paths } = await published(service, 2)
    const other = await published(service, 2)
    const { nextPageToken: pageToken } = await list(service, form, { pageSize: 1 })

    const byPublicId = { ...form, formId: form.publicId }
    expect(pathsOf(await list(service, byPublicId, { pageToken }))).toEqual([paths[1]])
    expect(refusalOf(await service.send({ url: urlWith(other.form, { pageToken }) }))).toMatchObject({
      code: 400,
      reason: 'INVALID_PAGE_TOKEN',
    })
  })

  it('rejects an invalid query before it reads the form', async () => {
    await using service = await startForms()
    const missing = { ...(await service.given.form()), formId: randomUUID() }

    const refused = await service.send({ url: urlWith(missing, { pageSize: -1 }) })

    expect(refusalOf(refused)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })

  it('rejects a token of the list of forms, and a damaged one', async () => {
    await using service = await startForms()
    const { form } = await published(service, 2)
    await service.given.form()
    const forms = (await service.send({ url: `${urlOf(form).replace(/\/[^/]+$/, '')}?pageSize=1` })).json()
    const { nextPageToken } = await list(service, form, { pageSize: 1 })

    for (const pageToken of [forms.nextPageToken, `${nextPageToken}A`, nextPageToken.slice(1), '!']) {
      expect(refusalOf(await service.send({ url: urlWith(form, { pageToken }) }))).toMatchObject({
        code: 400,
        reason: 'INVALID_PAGE_TOKEN',
      })
    }
  })

  it.each([
    ['filter=', ['filter']],
    ['orderBy=createTime', ['orderBy']],
    ['pageSize=-1', ['pageSize']],
    ['pageSize=1.5&skip=x', ['pageSize', 'skip']],
    ['skip=2147483648', ['skip']],
    ['pageSize=1&pageSize=1', ['pageSize']],
    ['pagesize=1', ['pagesize']],
  ])('rejects the query %s', async (query, fields) => {
    await using service = await startForms()
    const { form } = await published(service, 1)

    const response = await service.send({ url: `${urlOf(form)}/revisions?${query}` })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(refusalOf(response).fields.sort()).toEqual(fields)
  })

  it('responds FORM_NOT_FOUND for a missing form', async () => {
    await using service = await startForms()
    const form = await service.given.form()

    const response = await service.send({ url: urlWith({ ...form, formId: randomUUID() }) })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
  })

  it('lists no revisions of another organization', async () => {
    await using service = await startForms()
    const foreign = await service.given.form({}, randomUUID())
    await service.given.revision(foreign)

    const asMine = await service.send({
      url: urlWith({ ...foreign, organizationId: service.organizationId }),
    })
    const asTheirs = await service.send({ url: urlWith(foreign) })

    expect(refusalOf(asMine)).toMatchObject({ code: 404, reason: 'FORM_NOT_FOUND' })
    expect(refusalOf(asTheirs)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it('serves viewers, and HEAD without a body', async () => {
    await using service = await startForms()
    const { form } = await published(service, 1)

    expect((await service.send({ url: urlWith(form) }, { role: 'viewer', readOnly: true })).statusCode).toBe(
      200,
    )
    expect(await service.send({ method: 'HEAD', url: urlWith(form) })).toMatchObject({
      statusCode: 200,
      body: '',
    })
  })
})
