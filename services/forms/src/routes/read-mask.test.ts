import { Form, ListFormsResponse } from '@fms/contracts'
import { createFormArbitrary } from '@fms/contracts/arbitrary'
import type { StoredForm } from '@fms/forms-store'
import { cutToMask } from '@fms/testkit/cut-to-mask'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type FormsService, refusalOf, startForms, urlOf } from '../testing/start-forms.ts'

const read = async (service: FormsService, url: string, readMask?: string) => {
  const separator = url.includes('?') ? '&' : '?'
  const query = readMask === undefined ? '' : `${separator}${new URLSearchParams({ readMask })}`
  return service.send({ url: url + query })
}

const bodyOf = async (service: FormsService, url: string, readMask?: string) => {
  const response = await read(service, url, readMask)
  expect(response.statusCode, response.body).toBe(200)
  return response.json()
}

/** A published form with another draft, and the URLs of its reads. */
const givenPublished = async (service: FormsService) => {
  const form = await service.given.form({
    name: 'Intake "1"',
    theme: { primaryColor: '#0f766e' },
    steps: [{ type: 'text', key: 'q', title: 'Why?' }],
    i18n: { supportedLocales: ['en', 'pt-BR'], translations: { 'pt-BR': { name: { value: 'Entrada' } } } },
  })
  await service.given.revision(form)
  await service.given.reply(form)
  const payload = { form: { name: 'Changed', aiHandoff: { enabled: true } } }
  await service.send({ method: 'PATCH', url: urlOf(form), payload })
  return {
    form,
    forms: `/organizations/${form.organizationId}/forms`,
    revisions: `${urlOf(form)}/revisions`,
    live: `${urlOf(form)}/revisions/live`,
  }
}

describe('readMask of GET /organizations/{organization}/forms/{form}', () => {
  it.each<[string, object]>([
    ['name,live', { live: true, name: 'Changed' }],
    ['theme.primaryColor', { theme: { primaryColor: '#0f766e' } }],
    [
      'i18n.translations.pt-BR.name.value',
      { i18n: { translations: { 'pt-BR': { name: { value: 'Entrada' } } } } },
    ],
    ['i18n.translations.de', { i18n: { translations: {} } }],
    ['steps', { steps: [{ type: 'text', key: 'q', title: 'Why?' }] }],
    ['replyCount,publicId', { replyCount: 1, publicId: expect.stringMatching(/^\w{10}$/) }],
  ])('%s returns these members only', async (mask, expected) => {
    await using service = await startForms()
    const { form } = await givenPublished(service)

    expect(await bodyOf(service, urlOf(form), mask)).toEqual(expected)
  })

  it.each(['', '*', 'name,*'])('%j returns all members', async (mask) => {
    await using service = await startForms()
    const { form } = await givenPublished(service)

    const masked = await read(service, urlOf(form), mask)

    expect(masked.body).toBe((await read(service, urlOf(form))).body)
  })

  it('returns the ETag of the form, and 304 for it', async () => {
    await using service = await startForms()
    const { form } = await givenPublished(service)
    const { etag } = (await read(service, urlOf(form))).headers

    const masked = await read(service, urlOf(form), 'name')
    const headers = { 'if-none-match': etag as string }
    const again = await service.send({ url: `${urlOf(form)}?readMask=name`, headers })

    expect(masked.headers.etag).toBe(etag)
    expect(again).toMatchObject({ statusCode: 304, body: '' })
  })
})

describe('readMask of GET /organizations/{organization}/forms/{form}/revisions/{revision}', () => {
  it.each<[string, object]>([
    ['alternateIds', { alternateIds: ['live'] }],
    [
      'form.name,form.theme.primaryColor',
      { form: { name: 'Intake "1"', theme: { primaryColor: '#0f766e' } } },
    ],
    ['form.live,form.replyCount', { form: { live: true, replyCount: 0 } }],
  ])('%s returns these members only', async (mask, expected) => {
    await using service = await startForms()
    const { live } = await givenPublished(service)

    expect(await bodyOf(service, live, mask)).toEqual(expected)
  })

  it('shows the AI Handoff of the draft as live only', async () => {
    await using service = await startForms()
    const { live } = await givenPublished(service)
    const { path } = await bodyOf(service, live, 'path')

    expect(await bodyOf(service, live, 'form.aiHandoff')).toEqual({ form: { aiHandoff: { enabled: true } } })
    expect(await bodyOf(service, `/${path}`, 'form.aiHandoff.enabled')).toEqual({
      form: { aiHandoff: { enabled: false } },
    })
  })
})

describe('a readMask', () => {
  it.each([
    ['nmae', ['names nmae, which is not a member']],
    ['name,', ['has an empty path']],
    ['steps.key', ['names a part of an array, steps.key: name steps as a whole']],
    ['alternateIds', ['names alternateIds, which is not a member']],
    ['a,name,b', ['names a, which is not a member', 'names b, which is not a member']],
    [`${'name,'.repeat(400)}name`, ['must have at most 2000 characters']],
    [`${'x'.repeat(1000)}`, [`names ${'x'.repeat(500)}…, which is not a member`]],
  ])('of forms that is %s is rejected', async (mask, descriptions) => {
    await using service = await startForms()
    const { form, forms } = await givenPublished(service)

    for (const url of [urlOf(form), forms, `${urlOf(form)}0`]) {
      const refusal = refusalOf(await read(service, url, mask))

      expect(refusal).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
      expect(refusal.violations).toEqual(
        descriptions.map((description) => ({ field: 'readMask', description })),
      )
    }
  })

  it.each(['name', 'form.steps.key', 'form.nmae', 'form.', '*,x'])(
    'of revisions that is %s is rejected',
    async (mask) => {
      await using service = await startForms()
      const { live, revisions } = await givenPublished(service)

      for (const url of [live, revisions]) {
        expect(refusalOf(await read(service, url, mask))).toMatchObject({
          code: 400,
          reason: 'INVALID_REQUEST',
          fields: ['readMask'],
        })
      }
    },
  )

  it('may have 2,000 characters', async () => {
    await using service = await startForms()
    const { form } = await givenPublished(service)
    const mask = `${'name,'.repeat(399)}live`.padEnd(2000)

    expect(Object.keys(await bodyOf(service, urlOf(form), mask))).toEqual(['name', 'live'])
  })

  it.each(['?readMask=name&readMask=live', '?readMask=name&readmask=live'])(
    'is given once: %s',
    async (query) => {
      await using service = await startForms()
      const { form, forms, live, revisions } = await givenPublished(service)

      for (const url of [urlOf(form), forms, live, revisions]) {
        expect(refusalOf(await service.send({ url: url + query }))).toMatchObject({ code: 400 })
      }
    },
  )

  it('is reported with all other invalid parameters of a list', async () => {
    await using service = await startForms()
    const { forms } = await givenPublished(service)

    const refusal = refusalOf(await read(service, `${forms}?filter=(&pageSize=x&color=red`, 'nmae'))

    expect(refusal.fields.sort()).toEqual(['color', 'filter', 'pageSize', 'readMask'])
  })

  it.each(['POST', 'PATCH', 'DELETE'] as const)('is unknown to %s', async (method) => {
    await using service = await startForms()
    const { form, forms } = await givenPublished(service)
    const url = method === 'POST' ? forms : urlOf(form)

    const response = await service.send({ method, url: `${url}?readMask=name`, payload: {} })

    expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_REQUEST' })
  })
})

/** All paths into objects of a resource, but not into arrays. */
const pathsOf = (resource: object): string[] =>
  Object.entries(resource).flatMap(([name, member]) => {
    if (!/^[A-Za-z0-9_-]+$/.test(name)) return []
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member)
    return [name, ...(isObject ? pathsOf(member).map((path) => `${name}.${path}`) : [])]
  })

const light = [
  'path',
  'publicId',
  'publicUrl',
  'name',
  'type',
  'createTime',
  'updateTime',
  'replyCount',
  'live',
]

describe('readMask of GET /organizations/{organization}/forms', () => {
  it.each([['*'], [''], [light.join()], ['name'], ['name,steps'], ['theme.textSize,live']])(
    '%j keeps the order, the tokens and the total',
    async (mask) => {
      await using service = await startForms()
      for (const name of ['a', 'b', 'c']) await service.given.form({ name })
      const url = `/organizations/${service.organizationId}/forms?orderBy=name&pageSize=2`

      const first = await bodyOf(service, url, mask)
      const whole = ListFormsResponse.parse(await bodyOf(service, url))
      const rest = `${url}&pageToken=${first.nextPageToken}`

      const forms = whole.forms.map((form) => cutToMask(form, mask || '*'))
      expect(first).toEqual({ ...whole, forms })
      expect(await bodyOf(service, rest, 'name')).toEqual({
        forms: [{ name: 'c' }],
        nextPageToken: '',
        totalSize: 3,
      })
    },
  )

  it.each([
    [light.join(), true],
    ['name', true],
    ['live,live , path', true],
    ['name,description', false],
    ['theme.primaryColor', false],
    ['*', false],
  ])('of %j reads no draft: %s', async (mask, isLight) => {
    await using service = await startForms()
    const { forms } = await givenPublished(service)
    const list = vi.spyOn(service.forms, 'list')
    const listSummaries = vi.spyOn(service.forms, 'listSummaries')

    await bodyOf(service, forms, mask)

    expect([list.mock.calls.length, listSummaries.mock.calls.length]).toEqual(isLight ? [0, 1] : [1, 0])
  })

  it('does not end a page at 4 MiB if it reads no draft', async () => {
    await using service = await startForms()
    const context = Array.from({ length: 700 }, () => 'x'.repeat(1000))
    for (let count = 0; count < 8; count++) await service.given.form({ context })
    const url = `/organizations/${service.organizationId}/forms`

    expect((await bodyOf(service, url, 'name,context')).forms.length).toBeLessThan(8)
    expect(await bodyOf(service, url, 'name')).toMatchObject({ forms: { length: 8 }, nextPageToken: '' })
  })

  it('is the whole response, cut down, for any forms and a new mask on each page', async () => {
    const anyRandom = fc.infiniteStream(fc.nat())
    const property = fc.asyncProperty(
      fc.array(createFormArbitrary, { minLength: 1, maxLength: 7 }),
      anyRandom,
      async (allFields, random) => {
        await using service = await startForms()
        const forms: StoredForm[] = []
        for (const fields of allFields) forms.push(await createForm(service, fields))
        for (const form of [...forms.slice(0, 4), forms[0]!]) await service.given.revision(form)
        const pick = <T>(from: readonly T[]): T => from[random.next().value! % from.length]!

        const lists = [
          { url: `/organizations/${service.organizationId}/forms?orderBy=createTime`, name: 'forms' },
          { url: `${urlOf(forms[0]!)}/revisions?skip=0`, name: 'revisions' },
        ]
        for (const { url, name } of lists) {
          for (let token = '', pages = 0; pages === 0 || token !== ''; pages++) {
            const pageUrl = `${url}&pageSize=${pick([1, 3, 1000])}&pageToken=${token}`
            const whole = await bodyOf(service, pageUrl)
            const items: object[] = whole[name]
            const paths = pathsOf(pick(items))
            const known = pick([
              paths,
              paths.filter((path) => !path.includes('.')),
              light.filter((path) => paths.includes(path)),
            ])
            const mask = Array.from({ length: pick([1, 2, 5]) }, () => pick(known)).join()

            const page = await bodyOf(service, pageUrl, mask)

            expect(page[name]).toEqual(items.map((item) => cutToMask(item, mask)))
            expect(page.totalSize).toBe(whole.totalSize)
            expect(page.nextPageToken === '').toBe(whole.nextPageToken === '')
            token = page.nextPageToken
          }
        }
      },
    )
    await fc.assert(property, { numRuns: 20 })
  })
})

const createForm = async (service: FormsService, fields: object): Promise<StoredForm> => {
  const url = `/organizations/${service.organizationId}/forms`
  const response = await service.send({ method: 'POST', url, payload: { form: fields } })
  const { publicId } = Form.parse(response.json())
  return (await service.forms.get({ organizationId: service.organizationId, formRef: publicId }))!
}

describe('readMask of large pages', () => {
  it('cuts each form and each revision, in pages that are sent item by item', async () => {
    await using service = await startForms()
    const steps = [{ type: 'text', key: 'q', title: 'Why?', note: 'x'.repeat(450_000) }]
    const form = await service.given.form({ name: 'First', steps })
    await service.given.form({ name: 'Second', steps })
    for (let number = 0; number < 2; number++) await service.given.revision(form)
    const forms = `/organizations/${form.organizationId}/forms`
    const revisions = `${urlOf(form)}/revisions`

    expect(await bodyOf(service, `${forms}?orderBy=name`, 'name,steps')).toEqual({
      forms: [
        { name: 'First', steps },
        { name: 'Second', steps },
      ],
      nextPageToken: '',
      totalSize: 2,
    })
    expect((await bodyOf(service, forms, 'theme.primaryColor')).forms).toEqual(
      Array.from({ length: 2 }, () => ({ theme: { primaryColor: '#2563eb' } })),
    )
    expect((await bodyOf(service, revisions, 'number,form.name')).revisions).toEqual(
      [2, 1].map((number) => ({ number, form: { name: 'First' } })),
    )
  })
})
