import { randomUUID } from 'node:crypto'
import { ListFormsResponse } from '@fms/contracts'
import type { StoredForm } from '@fms/forms-store'
import { describe, expect, it, vi } from 'vitest'
import { type FormsService, refusalOf, startForms } from '../testing/start-forms.ts'

type Query = Record<string, string | number>

const urlWith = (service: FormsService, query: Query = {}) =>
  `/organizations/${service.organizationId}/forms?${new URLSearchParams(query as Record<string, string>)}`

const list = async (service: FormsService, query: Query = {}) => {
  const response = await service.send({ url: urlWith(service, query) })
  expect(response.statusCode, response.body).toBe(200)
  return ListFormsResponse.parse(response.json())
}

const refused = async (service: FormsService, query: Query) =>
  refusalOf(await service.send({ url: urlWith(service, query) }))

const namesOf = ({ forms }: ListFormsResponse) => forms.map(({ name }) => name)

/** Creates forms with these names, one minute apart. */
const given = async (service: FormsService, ...named: (string | object)[]) => {
  const forms: StoredForm[] = []
  for (const fields of named) {
    forms.push(await service.given.form(typeof fields === 'string' ? { name: fields } : fields))
    service.clock.now = new Date(service.clock.now.getTime() + 60_000)
  }
  return forms
}

describe('GET /organizations/{organization}/forms', () => {
  it('is empty without forms', async () => {
    await using service = await startForms()
    await service.given.form({}, randomUUID())

    expect(await list(service)).toEqual({ forms: [], nextPageToken: '', totalSize: 0 })
  })

  it('lists the most recently updated first, each as a read returns it', async () => {
    await using service = await startForms()
    const [first] = await given(service, 'first', 'second', 'third')
    const url = `/organizations/${service.organizationId}/forms/${first?.formId}`
    await service.send({ method: 'PATCH', url, payload: { form: { tone: 'dry' } } })
    await service.given.revision(first!)
    await service.given.reply(first!)

    const page = await list(service)

    expect(namesOf(page)).toEqual(['first', 'third', 'second'])
    expect(page.forms[0]).toEqual((await service.send({ url })).json())
    expect(page).toMatchObject({ totalSize: 3, nextPageToken: '' })
  })

  it('serves only the organization of the identity token', async () => {
    await using service = await startForms()

    const response = await service.send({ url: urlWith(service) }, { organizationId: randomUUID() })

    expect(refusalOf(response)).toMatchObject({ code: 404, reason: 'ORGANIZATION_NOT_FOUND' })
  })

  it('serves viewers, and HEAD without a body', async () => {
    await using service = await startForms()
    const url = urlWith(service)

    expect((await service.send({ url }, { role: 'viewer', readOnly: true })).statusCode).toBe(200)
    expect(await service.send({ method: 'HEAD', url })).toMatchObject({ statusCode: 200, body: '' })
  })

  it.each(['PUT', 'PATCH', 'DELETE'] as const)('rejects %s', async (method) => {
    await using service = await startForms()

    const response = await service.send({ method, url: `/organizations/${service.organizationId}/forms` })

    expect(refusalOf(response)).toMatchObject({ code: 405, reason: 'METHOD_NOT_ALLOWED' })
    expect(response.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  })

  it.each([
    ['view=full', ['view']],
    ['pagesize=1', ['pagesize']],
    ['__proto__=1', ['__proto__']],
    ['all=true', ['all']],
    ['pageSize=1&pageSize=1', ['pageSize']],
    ['filter=a&filter=a', ['filter']],
    ['orderBy=name&orderBy=name', ['orderBy']],
    ['skip=1&skip=2', ['skip']],
    ['pageToken=&pageToken=', ['pageToken']],
    ['pageSize=-1', ['pageSize']],
    ['pageSize=1.5', ['pageSize']],
    ['pageSize=1e1', ['pageSize']],
    ['pageSize=ten', ['pageSize']],
    ['pageSize=', ['pageSize']],
    ['pageSize=%2B1', ['pageSize']],
    ['pageSize=9007199254740992', ['pageSize']],
    ['skip=-1', ['skip']],
    ['skip=0.5', ['skip']],
    ['skip=2147483648', ['skip']],
    [
      'color=red&filter=(&orderBy=a&pageSize=x&skip=y&pageToken=z',
      ['color', 'filter', 'orderBy', 'pageSize', 'pageToken', 'skip'],
    ],
  ])('rejects the query %s', async (query, fields) => {
    await using service = await startForms()

    const refusal = refusalOf(
      await service.send({ url: `/organizations/${service.organizationId}/forms?${query}` }),
    )

    expect(refusal).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
    expect(refusal.fields.sort()).toEqual(fields)
  })

  describe('filter', () => {
    const names = ['Alpha', 'alpha beta', 'Beta*', '100%_', 'back\\slash', 'say "hi"', '😀 ÜNÏ', "it's\n2"]
    const dynamic = ['alpha beta', '😀 ÜNÏ']

    /** The forms above: names, types, created one minute apart from 09:30. */
    const startWithNames = async () => {
      const service = await startForms()
      await given(
        service,
        ...names.map((name) => ({ name, type: dynamic.includes(name) ? 'dynamic' : 'structured' })),
      )
      return service
    }
    const others = (...left: string[]) => names.filter((name) => !left.includes(name))

    it.each<[string, string[]]>([
      ['', names],
      ['  \t', names],
      // Strings
      ['name = "Alpha"', ['Alpha']],
      ["name='Alpha'", ['Alpha']],
      ['name=Alpha', ['Alpha']],
      ['name = alpha', []],
      ['name != Alpha', others('Alpha')],
      ['name < "B"', ['Alpha', '100%_']],
      ['name <= Alpha', ['Alpha', '100%_']],
      ['name > "say"', ['say "hi"', '😀 ÜNÏ']],
      ['name >= "😀"', ['😀 ÜNÏ']],
      ['name:"eta"', ['alpha beta', 'Beta*']],
      ['name:ETA', []],
      ['name:""', names],
      // Wildcards
      ['name = "*eta*"', ['alpha beta', 'Beta*']],
      ['name = *a', ['Alpha', 'alpha beta']],
      ['name = a*b*a', ['alpha beta']],
      ['name = "*"', names],
      ['name != "*a*"', ['100%_', '😀 ÜNÏ', "it's\n2"]],
      ['name = "Beta\\*"', ['Beta*']],
      ['name:"*"', ['Beta*']],
      ['name = "100__"', []],
      ['name:"%"', ['100%_']],
      // Escapes
      ['name = "say \\"hi\\""', ['say "hi"']],
      ["name:'\\''", ["it's\n2"]],
      ['name:"\\n"', ["it's\n2"]],
      ['name:"\\\\"', ['back\\slash']],
      ['name:"\\u00dcN"', ['😀 ÜNÏ']],
      ['name:"\\ud83d\\ude00"', ['😀 ÜNÏ']],
      // Types and times
      ['type = dynamic', dynamic],
      ['type != "dynamic"', others(...dynamic)],
      ['createTime = 2026-11-20T09:31:00Z', ['alpha beta']],
      ['createTime != "2026-11-20T09:31:00Z"', others('alpha beta')],
      ['createTime < 2026-11-20T10:31:00+01:00', ['Alpha']],
      ['createTime <= "2026-11-20T09:31:00.000Z"', ['Alpha', 'alpha beta']],
      ['updateTime > "2026-11-20T09:36:00Z"', ["it's\n2"]],
      ['updateTime >= 2026-11-20T09:36:00.0001Z', ["it's\n2"]],
      // Search
      ['search("BETA")', ['alpha beta', 'Beta*']],
      ["search('ünï')", ['😀 ÜNÏ']],
      ['search("*")', ['Beta*']],
      ['search("")', names],
      ['alpha', ['Alpha', 'alpha beta']],
      ['"ALPHA B"', ['alpha beta']],
      // Together
      ['alpha beta', ['alpha beta']],
      ['alpha AND beta', ['alpha beta']],
      ['name = Alpha OR name:"%"', ['Alpha', '100%_']],
      ['type = dynamic AND alpha OR beta', ['alpha beta']],
      ['beta type = dynamic OR name:"*"', ['alpha beta', 'Beta*']],
      ['NOT alpha', others('Alpha', 'alpha beta')],
      ['-alpha -type = dynamic', others('Alpha', ...dynamic)],
      ['NOT (alpha OR name:"%")', others('Alpha', 'alpha beta', '100%_')],
      ['(type = dynamic AND alpha) OR name:"%"', ['alpha beta', '100%_']],
      ['name = -5', []],
    ])('%j finds %j', async (filter, found) => {
      await using service = await startWithNames()

      const page = await list(service, { filter, orderBy: 'createTime' })

      expect(namesOf(page)).toEqual(found)
      expect(page.totalSize).toBe(found.length)
    })

    it('finds forms by public id', async () => {
      await using service = await startForms()
      const [form] = await given(service, 'this', 'that')
      const id = form!.publicId

      expect(namesOf(await list(service, { filter: `publicId = ${id}` }))).toEqual(['this'])
      expect(namesOf(await list(service, { filter: `publicId = "${id.slice(0, 9)}*"` }))).toEqual(['this'])
      expect(namesOf(await list(service, { filter: `publicId != ${id}` }))).toEqual(['that'])
      expect(namesOf(await list(service, { filter: `publicId:"${id.slice(1, 9)}"` }))).toEqual(['this'])
    })

    it('finds no forms of other organizations', async () => {
      await using service = await startForms()
      const foreign = await service.given.form({ name: 'foreign' }, randomUUID())

      expect(
        await list(service, { filter: `name = foreign OR publicId = ${foreign.publicId}` }),
      ).toMatchObject({
        forms: [],
        totalSize: 0,
      })
    })

    it('accepts 20 levels of nesting and 60 conditions', async () => {
      await using service = await startWithNames()
      const nested = `${'NOT ('.repeat(20)}alpha${')'.repeat(20)}`
      const many = Array.from({ length: 60 }, (_, index) => `name = ${index % 2 ? 'x' : 'Alpha'}`).join(
        ' OR ',
      )

      expect(namesOf(await list(service, { filter: nested, orderBy: 'createTime' }))).toEqual([
        'Alpha',
        'alpha beta',
      ])
      expect(namesOf(await list(service, { filter: many }))).toEqual(['Alpha'])
    })

    it.each([
      ['type = dynamic', 61, 'conditions', '60'],
      ['name = "*a*"', 11, 'text conditions', '10'],
    ])('rejects too many conditions: %s', async (condition, count, conditions, limit) => {
      await using service = await startWithNames()

      const refusal = await refused(service, { filter: Array(count).fill(condition).join(' OR ') })

      expect(refusal).toMatchObject({
        code: 400,
        reason: 'FILTER_TOO_COMPLEX',
        metadata: { field: 'filter', conditions, limit, found: `${count}` },
        fields: ['filter'],
      })
    })

    it.each<[string, number, RegExp]>([
      ['replyCount = 1', 1, /^one of the fields .*name, .*updateTime$/],
      ['live = true', 1, /^one of the fields/],
      ['Name = a', 1, /^one of the fields/],
      ['__proto__ = a', 1, /^one of the fields/],
      ['draft.name = a', 1, /^one of the fields/],
      ['name = a AND constructor:a', 14, /^one of the fields/],
      ['name = ', 8, /a value/],
      ['name = "open', 13, /quot|"/],
      ['name = "\\q"', 10, /^one of the escapes/],
      ['name = a AND', 13, /a condition/],
      ['AND name = a', 1, /a condition/],
      ['name = a AND AND name = b', 14, /a condition/],
      ['name = a OR', 12, /a condition/],
      ['(name = a', 10, /\)|parenthesis/],
      ['name = a)', 9, /the end/],
      ['😀 AND )', 7, /a condition/],
      ['NOT', 4, /a condition/],
      ['name:*', 6, /a text after :/],
      ['name > "a*"', 8, /without wildcards/],
      ['type > dynamic', 6, /^= or != after type$/],
      ['type = other', 8, /^one of structured, dynamic$/],
      ['createTime:2026', 11, /after createTime$/],
      ['createTime > 2026-02-30T00:00:00Z', 14, /^an RFC 3339 time with offset/],
      ['createTime > 2026-11-20T00:00:00', 14, /^an RFC 3339 time with offset/],
      ['createTime > yesterday', 14, /^an RFC 3339 time with offset/],
      ['search()', 1, /^one text in quotes/],
      ['search(bare)', 8, /^one text in quotes/],
      ['search("a", "b")', 13, /^one text in quotes/],
      ['find("a")', 1, /^search, the only function$/],
    ])('%j is rejected at column %i', async (filter, column, expected) => {
      await using service = await startForms()

      const refusal = await refused(service, { filter })

      expect(refusal).toMatchObject({
        code: 400,
        status: 'INVALID_ARGUMENT',
        reason: 'INVALID_FILTER',
        metadata: { field: 'filter', column: `${column}`, expected: expect.stringMatching(expected) },
        fields: ['filter'],
      })
      expect(refusal.message).toContain(`column ${column}: expected ${refusal.metadata.expected}`)
    })

    it('accepts at most 2,000 characters, however many bytes', async () => {
      await using service = await startForms()
      const text = (length: number) => `"${'😀'.repeat(length - 2)}"`

      expect(await list(service, { filter: text(2000) })).toMatchObject({ totalSize: 0 })
      expect(await refused(service, { filter: text(2001) })).toMatchObject({ code: 400, fields: ['filter'] })
    })
  })

  describe('orderBy', () => {
    it.each<[string, string[]]>([
      ['name', ['B', 'a', '～', '😀']],
      ['name asc', ['B', 'a', '～', '😀']],
      ['name desc', ['😀', '～', 'a', 'B']],
      ['createTime', ['a', '😀', 'B', '～']],
      ['createTime desc', ['～', 'B', '😀', 'a']],
      ['updateTime', ['😀', 'B', '～', 'a']],
      ['updateTime desc', ['a', '～', 'B', '😀']],
      ['', ['a', '～', 'B', '😀']],
      ['replyCount desc, name', ['B', 'a', '～', '😀']],
      [' replyCount ,  name desc ', ['😀', '～', 'a', 'B']],
    ])('%j sorts as %j', async (orderBy, sorted) => {
      await using service = await startForms()
      const [a, , b] = await given(service, 'a', '😀', 'B', '～')
      await service.forms.update({ ...a!, formRef: a!.formId }, (form) => ({
        ...form,
        updateTime: service.clock.now,
      }))
      await service.given.reply(b!)

      expect(namesOf(await list(service, { orderBy }))).toEqual(sorted)
    })

    it.each([
      '',
      'updateTime',
      'updateTime desc',
      'name',
      'name desc',
      'replyCount desc',
      'createTime',
      'publicId',
    ])('breaks ties of %j by public id, in its direction', async (orderBy) => {
      await using service = await startForms()
      const forms = await Promise.all(Array.from({ length: 8 }, () => service.given.form()))
      const ascending = forms.map(({ publicId }) => publicId).sort()
      const sorted = orderBy.endsWith('desc') ? ascending.toReversed() : ascending

      const first = await list(service, { orderBy, pageSize: 5 })
      const second = await list(service, { orderBy, pageSize: 5, pageToken: first.nextPageToken })

      expect([...first.forms, ...second.forms].map(({ publicId }) => publicId)).toEqual(sorted)
    })

    it.each<[string, number, RegExp]>([
      ['type', 1, /^one of .*name, .*updateTime$/],
      ['Name', 1, /^one of .*name/],
      ['name, __proto__', 7, /^one of .*name/],
      ['name,', 6, /^one of .*name/],
      [',name', 1, /^one of .*name/],
      ['name DESC', 6, /^asc, desc, a comma or the end$/],
      ['name desc asc', 11, /^a comma or the end$/],
      ['name, name desc', 7, /^a field other than name/],
    ])('%j is rejected at column %i', async (orderBy, column, expected) => {
      await using service = await startForms()

      const refusal = await refused(service, { orderBy })

      expect(refusal).toMatchObject({
        code: 400,
        reason: 'INVALID_ORDER_BY',
        metadata: { field: 'orderBy', column: `${column}`, expected: expect.stringMatching(expected) },
        fields: ['orderBy'],
      })
      expect(refusal.message).toContain(`column ${column}: expected ${refusal.metadata.expected}`)
    })
  })

  describe('pages', () => {
    it.each<[string, Query, number]>([
      ['10 when pageSize is left out', {}, 10],
      ['10 when pageSize is 0', { pageSize: 0 }, 10],
      ['as many as pageSize says', { pageSize: 11 }, 11],
      ['all there are, if pageSize is more', { pageSize: 13 }, 12],
      ['all there are, if pageSize is more than can be', { pageSize: '9007199254740991' }, 12],
    ])('have %s', async (_, query, length) => {
      await using service = await startForms()
      await given(service, ...Array(12).fill('x'))

      const page = await list(service, query)

      expect(page.forms).toHaveLength(length)
      expect(page.totalSize).toBe(12)
      expect(page.nextPageToken === '').toBe(length === 12)
    })

    it('have at most 1,000 forms', async () => {
      await using service = await startForms()
      await Promise.all(Array.from({ length: 1001 }, () => service.given.form()))

      const page = await list(service, { pageSize: 5000 })

      expect(page.forms).toHaveLength(1000)
      expect(page.totalSize).toBe(1001)
      expect((await list(service, { pageSize: 5000, pageToken: page.nextPageToken })).forms).toHaveLength(1)
    })

    it('end early once they have 4 MiB', async () => {
      await using service = await startForms()
      const context = Array(1000).fill('x'.repeat(740))
      await given(service, ...Array(8).fill({ context }))

      const first = await list(service, { pageSize: 1000 })
      const second = await list(service, { pageSize: 1000, pageToken: first.nextPageToken })

      expect(first.forms.length).toBe(6)
      expect(first.totalSize).toBe(8)
      expect(second.forms.length).toBe(2)
      expect(second.nextPageToken).toBe('')
    })

    it('are cancelled when their caller disconnects', async () => {
      await using service = await startForms()
      const begun = Promise.withResolvers<AbortSignal>()
      const list = vi.spyOn(service.forms, 'list').mockImplementation((_, { signal } = {}) => {
        begun.resolve(signal!)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      })
      const url = await service.app.listen()
      const caller = new AbortController()
      const response = fetch(`${url}${urlWith(service)}`, {
        headers: service.headersOf(),
        signal: caller.signal,
      })
      const signal = await begun.promise

      caller.abort()
      await expect(response).rejects.toThrow()
      await expect.poll(() => signal.aborted, { timeout: 10_000 }).toBe(true)

      await expect.poll(() => list.mock.settledResults[0]?.type).toBe('rejected')
    })

    it('neither repeat nor miss unchanged forms while others are created and deleted', async () => {
      await using service = await startForms()
      const forms = await given(service, 'a', 'b', 'c', 'd', 'e')
      const ref = (form: StoredForm) => ({ ...form, formRef: form.formId })

      const first = await list(service, { pageSize: 2, orderBy: 'name' })
      await given(service, 'A0', 'bb')
      await service.forms.delete(ref(forms[0]!), () => {})
      await service.forms.delete(ref(forms[1]!), () => {})
      const second = await list(service, { pageSize: 2, orderBy: 'name', pageToken: first.nextPageToken })
      await service.forms.delete(ref(forms[2]!), () => {})
      const third = await list(service, { pageSize: 2, orderBy: 'name', pageToken: second.nextPageToken })

      expect([first, second, third].map(namesOf)).toEqual([
        ['a', 'b'],
        ['bb', 'c'],
        ['d', 'e'],
      ])
      expect(third.nextPageToken).toBe('')
      expect(third.totalSize).toBe(4)
    })

    it('count skip from the end of the previous page, and are empty past the end', async () => {
      await using service = await startForms()
      await given(service, 'a', 'b', 'c', 'd', 'e')
      const inOrder = (query: Query) => list(service, { orderBy: 'name', ...query })

      const first = await inOrder({ pageSize: 1, skip: 1 })
      const second = await inOrder({ pageSize: 3, skip: 1, pageToken: first.nextPageToken })

      expect([namesOf(first), namesOf(second)]).toEqual([['b'], ['d', 'e']])
      for (const skip of ['5', '2147483647']) {
        expect(await inOrder({ skip })).toEqual({ forms: [], nextPageToken: '', totalSize: 5 })
      }
    })

    it('have the number of matches as totalSize', async () => {
      await using service = await startForms()
      await given(service, 'a', 'ab', 'b')
      const query = { filter: 'name:a', pageSize: 1 }

      const first = await list(service, query)
      const second = await list(service, { ...query, pageToken: first.nextPageToken })

      expect([first.totalSize, second.totalSize]).toEqual([2, 2])
      expect([...namesOf(first), ...namesOf(second)]).toEqual(['ab', 'a'])
      expect(second.nextPageToken).toBe('')
    })

    it.each<[string, Query]>([
      ['another filter', { filter: 'name:b', orderBy: 'name' }],
      ['another order', { filter: 'name:a', orderBy: 'name desc' }],
      ['neither', {}],
    ])('reject the token of a list with %s', async (_, other) => {
      await using service = await startForms()
      await given(service, 'ab', 'abc')
      const { nextPageToken: pageToken } = await list(service, {
        filter: 'name:a',
        orderBy: 'name',
        pageSize: 1,
      })

      expect(await refused(service, { ...other, pageToken })).toMatchObject({
        code: 400,
        status: 'INVALID_ARGUMENT',
        reason: 'INVALID_PAGE_TOKEN',
      })
    })

    it('reject the token of another organization', async () => {
      await using service = await startForms()
      await given(service, 'a', 'b')
      const { nextPageToken: pageToken } = await list(service, { pageSize: 1 })
      const organizationId = randomUUID()

      const response = await service.send(
        { url: `/organizations/${organizationId}/forms?pageToken=${pageToken}` },
        { organizationId },
      )

      expect(refusalOf(response)).toMatchObject({ code: 400, reason: 'INVALID_PAGE_TOKEN' })
    })

    it.each<[string, (token: string) => string]>([
      ['cut', (token) => token.slice(0, -4)],
      ['longer', (token) => `${token}AAAA`],
      ['changed', (token) => token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
      [
        'changed in the middle',
        (token) => `${token.slice(0, 30)}${token[30] === 'A' ? 'B' : 'A'}${token.slice(31)}`,
      ],
      ['padded', (token) => `${token}=`],
      ['made up', () => Buffer.from('["2026-11-20",1]').toString('base64url')],
      ['no base64url', () => '%%%'],
    ])('reject a token that is %s', async (_, damage) => {
      await using service = await startForms()
      await given(service, 'a', 'b')
      const { nextPageToken } = await list(service, { pageSize: 1 })

      expect(await refused(service, { pageToken: damage(nextPageToken) })).toMatchObject({
        code: 400,
        reason: 'INVALID_PAGE_TOKEN',
      })
    })
  })
})
