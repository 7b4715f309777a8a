import { randomUUID } from 'node:crypto'
import { ListDeletedFormsResponse } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../../testing/start-forms.ts'

const start = () => startForms({ deletedFormsDays: 30 })

const urlIn = ({ organizationId }: FormsService) => `/organizations/${organizationId}/deletedForms`

const list = async (service: FormsService, query = '') => {
  const response = await service.send({ url: `${urlIn(service)}${query}` })
  expect(response.statusCode).toBe(200)
  return ListDeletedFormsResponse.parse(response.json())
}

/** Creates and deletes forms. */
const givenDeleted = async (service: FormsService, count: number): Promise<void> => {
  for (let made = 0; made < count; made++) {
    const form = await service.given.form({ name: `Form ${made}` })
    expect((await service.send({ method: 'DELETE', url: urlOf(form) })).statusCode).toBe(200)
  }
}

const pathsOf = ({ deletedForms }: ListDeletedFormsResponse) => deletedForms.map(({ path }) => path)

describe('GET /organizations/{organization}/deletedForms', () => {
  it('returns a deleted form with its times and its deleter, and no other forms', async () => {
    await using service = await start()
    await service.given.form()
    const form = await service.given.form({ name: 'Gone' })
    const userId = randomUUID()
    await service.send({ method: 'DELETE', url: urlOf(form) }, { userId })

    const { deletedForms, ...page } = await list(service)

    expect(page).toEqual({ nextPageToken: '', totalSize: 1 })
    const [deleted] = deletedForms
    expect(deletedForms).toEqual([
      {
        path: `organizations/${service.organizationId}/deletedForms/${form.formId}`,
        publicId: form.publicId,
        name: 'Gone',
        deleteTime: expect.any(String),
        purgeTime: expect.any(String),
        deleter: `users/${userId}`,
      },
    ])
    const days = (Date.parse(deleted!.purgeTime) - Date.parse(deleted!.deleteTime)) / 86_400_000
    expect(days).toBe(30)
  })

  it('is empty where deletes are final', async () => {
    await using service = await startForms({ deletedFormsDays: 0 })
    await givenDeleted(service, 1)

    expect(await list(service)).toEqual({ deletedForms: [], nextPageToken: '', totalSize: 0 })
  })

  it('pages through the forms, most recently deleted first, 10 by default', async () => {
    await using service = await start()
    await givenDeleted(service, 12)
    const all = await list(service, '?pageSize=12')
    const paths = pathsOf(all)
    const times = all.deletedForms.map(({ deleteTime }) => deleteTime)
    expect(new Set(paths).size).toBe(12)
    expect(times).toEqual(times.toSorted().reverse())

    const first = await list(service)
    const second = await list(service, `?pageToken=${first.nextPageToken}&pageSize=1`)
    const third = await list(service, `?pageToken=${second.nextPageToken}`)
    const skipped = await list(service, '?skip=11&pageSize=5')

    expect([first, second, third].map(pathsOf)).toEqual([paths.slice(0, 10), [paths[10]], [paths[11]]])
    expect([first, second, third].map(({ totalSize }) => totalSize)).toEqual([12, 12, 12])
    expect(third.nextPageToken).toBe('')
    expect(pathsOf(skipped)).toEqual([paths[11]])
  })

  it.each([
    ['filter=name', ['filter']],
    ['orderBy=name', ['orderBy']],
    ['readMask=name', ['readMask']],
    ['pageSize=-1&skip=x', ['pageSize', 'skip']],
    ['pageSize=1&pageSize=1', ['pageSize']],
  ])('rejects the query %s', async (query, fields) => {
    await using service = await start()

    const refusal = refusalOf(await service.send({ url: `${urlIn(service)}?${query}` }))

    expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
    expect(refusal.fields.sort()).toEqual(fields)
  })

  it('rejects page tokens of other lists', async () => {
    await using service = await start()
    await givenDeleted(service, 2)
    await service.given.form()
    await service.given.form()
    const forms = await service.send({ url: `/organizations/${service.organizationId}/forms?pageSize=1` })

    for (const token of [forms.json().nextPageToken, 'x']) {
      const refusal = refusalOf(await service.send({ url: `${urlIn(service)}?pageToken=${token}` }))
      expect(refusal).toMatchObject({ code: 400, reason: 'INVALID_PAGE_TOKEN' })
    }
  })

  it('serves viewers and HEAD, but no other organization', async () => {
    await using service = await start()
    await givenDeleted(service, 1)
    const url = urlIn(service)

    expect((await service.send({ url }, { role: 'viewer', readOnly: true })).statusCode).toBe(200)
    expect(await service.send({ method: 'HEAD', url })).toMatchObject({ statusCode: 200, body: '' })
    const foreign = await service.send({ url }, { organizationId: randomUUID() })
    expect(refusalOf(foreign)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })
})
