import { AllOrganizationsResponse, ErrorBody, ListOrganizationsResponse } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OrganizationsService, startOrganizations } from '../testing.ts'

/** Stores a user with these organizations, created one second apart. */
const givenMemberOf = async (service: OrganizationsService, slugs: string[]) => {
  const userId = await service.given.user()
  for (const slug of slugs) {
    await service.given.member(userId, await service.given.organization({ slug, name: `Name of ${slug}` }))
    service.clock.now = new Date(service.clock.now.getTime() + 1000)
  }
  return userId
}

const urlOf = (query: Record<string, string>) => `/organizations?${new URLSearchParams(query)}`

const list = async (service: OrganizationsService, userId: string, query: Record<string, string> = {}) => {
  const response = await service.get(userId, urlOf(query))
  const { organizations, ...page } = ListOrganizationsResponse.parse(response.json())
  return { ...page, slugs: organizations.map(({ slug }) => slug) }
}

/** The parts of an error response that programs read. */
const refusal = async (service: OrganizationsService, userId: string, url: string) => {
  const response = await service.get(userId, url)
  const { code, status, details } = ErrorBody.parse(response.json()).error
  const violations = details.flatMap((detail) => ('fieldViolations' in detail ? detail.fieldViolations : []))
  return { code, status, info: details[0], fields: violations.map(({ field }) => field).sort() }
}

describe('GET /organizations', () => {
  it('lists the organizations of the caller, oldest first', async () => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['ccc', 'aaa', 'bbb'])
    await givenMemberOf(service, ['foreign'])

    const response = await service.get(userId, '/organizations')

    expect(response.statusCode).toBe(200)
    const { organizations, ...page } = ListOrganizationsResponse.parse(response.json())
    expect(organizations.map(({ slug }) => slug)).toEqual(['ccc', 'aaa', 'bbb'])
    expect(page).toEqual({ nextPageToken: '', totalSize: 3 })
  })

  it('returns an empty page to a user without organizations', async () => {
    await using service = await startOrganizations()

    expect(await list(service, await service.given.user())).toEqual({
      nextPageToken: '',
      totalSize: 0,
      slugs: [],
    })
  })

  it('has 10 items on a page by default', async () => {
    await using service = await startOrganizations()
    const slugs = Array.from({ length: 11 }, (_, index) => `o-${index + 10}`)
    const userId = await givenMemberOf(service, slugs)

    const first = await list(service, userId)
    expect(first).toMatchObject({ slugs: slugs.slice(0, 10), totalSize: 11 })
    expect(await list(service, userId, { pageSize: '0', all: 'false' })).toMatchObject({
      slugs: first.slugs,
      totalSize: 11,
    })
    expect(await list(service, userId, { pageToken: first.nextPageToken })).toEqual({
      slugs: slugs.slice(10),
      nextPageToken: '',
      totalSize: 11,
    })
    expect(await list(service, userId, { pageSize: '9007199254740991' })).toMatchObject({ slugs })
  })

  it('counts skip from the page token', async () => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['aaa', 'bbb', 'ccc', 'ddd'])
    const { nextPageToken: pageToken } = await list(service, userId, { pageSize: '1' })

    expect((await list(service, userId, { pageToken, skip: '1' })).slugs).toEqual(['ccc', 'ddd'])
    expect(await list(service, userId, { pageToken, skip: '2147483647' })).toEqual({
      slugs: [],
      nextPageToken: '',
      totalSize: 4,
    })
  })

  it.each([
    ['slug = "b*"', ['bbb']],
    ['NOT slug = bbb', ['aaa', 'ccc']],
    ['name:"of c"', ['ccc']],
    ['createTime > 2026-11-20T09:30:00Z AND slug < ccc', ['bbb']],
    ['name:"%"', []],
    [' ', ['aaa', 'bbb', 'ccc']],
  ])('applies the filter %s', async (filter, slugs) => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['aaa', 'bbb', 'ccc'])

    expect(await list(service, userId, { filter })).toMatchObject({ slugs, totalSize: slugs.length })
  })

  it('accepts filters of the maximum depth and number of conditions', async () => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['aaa'])
    const deep = `${'-('.repeat(98)}slug=aaa${')'.repeat(98)}`
    const long = 'slug=aaa '.repeat(60)

    for (const filter of [deep, long]) {
      expect((await list(service, userId, { filter })).slugs).toEqual(['aaa'])
    }
  })

  it.each([
    ['createTime desc', ['ccc', 'bbb', 'aaa']],
    ['name', ['aaa', 'bbb', 'ccc']],
    ['name desc,slug', ['ccc', 'bbb', 'aaa']],
    ['slug asc', ['aaa', 'bbb', 'ccc']],
  ])('sorts by %s', async (orderBy, slugs) => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['aaa', 'bbb', 'ccc'])

    expect((await list(service, userId, { orderBy })).slugs).toEqual(slugs)
  })

  it('lists each unchanged organization exactly once while others are added and removed', async () => {
    const slug = fc.integer({ min: 0, max: 25 }).map((letter) => String.fromCharCode(97 + letter).repeat(3))
    const scenario = fc.record({
      slugs: fc.uniqueArray(slug, { minLength: 2, maxLength: 10 }),
      /** Before each page, the organization at twice this index is added or removed; odd ones stay unchanged. */
      moves: fc.array(fc.nat({ max: 4 }), { maxLength: 12 }),
      orderBy: fc.constantFrom('', 'createTime desc', 'name', 'name desc', 'slug', 'slug desc'),
      pageSize: fc.integer({ min: 1, max: 3 }).map(String),
    })
    const property = fc.asyncProperty(scenario, async ({ slugs, moves, orderBy, pageSize }) => {
      await using service = await startOrganizations()
      const { directory, given } = service
      const userId = await givenMemberOf(service, slugs)
      const untouched = slugs.filter((_, index) => index % 2 === 1)
      const seen: string[] = []

      let pageToken = ''
      do {
        const moving = await directory.findOrganization(slugs[2 * (moves.pop() ?? 99)] ?? '')
        if (moving) {
          const { organizationId } = moving
          const member = await directory.getOrganization(userId, organizationId)
          await (member ? directory.removeMember({ organizationId, userId }) : given.member(userId, moving))
        }
        const page = await list(service, userId, { orderBy, pageSize, pageToken })
        seen.push(...page.slugs)
        pageToken = page.nextPageToken
      } while (pageToken !== '')

      expect(seen.filter((each) => untouched.includes(each)).sort()).toEqual([...untouched].sort())
      expect(new Set(seen).size).toBe(seen.length)
    })
    await fc.assert(property, { numRuns: 50 })
  })

  it('accepts a page token only from the user who received it', async () => {
    await using service = await startOrganizations()
    const [ada, bob] = [
      await givenMemberOf(service, ['aaa', 'bbb']),
      await givenMemberOf(service, ['ccc', 'ddd']),
    ]
    const { nextPageToken: pageToken } = await list(service, ada, { pageSize: '1' })

    expect(await refusal(service, bob, urlOf({ pageToken }))).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      info: { reason: 'INVALID_PAGE_TOKEN' },
    })
    expect((await list(service, ada, { pageToken })).slugs).toEqual(['bbb'])
  })

  it.each([
    ['feedback', '1', 'a comparison of one of the fields createTime, name, slug'],
    ['search("acme")', '1', 'a comparison of one of the fields createTime, name, slug'],
    ['slug = a AND logo = b', '14', 'one of the fields createTime, name, slug'],
    ['__proto__ = a', '1', 'one of the fields createTime, name, slug'],
    ['createTime = yesterday', '14', 'an RFC 3339 time with offset, such as 2026-01-31T09:30:00Z'],
  ])('rejects the filter %s with the column of the error', async (filter, column, expected) => {
    await using service = await startOrganizations()

    expect(await refusal(service, await service.given.user(), urlOf({ filter }))).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      info: { reason: 'INVALID_FILTER', metadata: { column, expected } },
      fields: ['filter'],
    })
  })

  it.each(['path', 'name,name', 'name up'])('rejects the order %s', async (orderBy) => {
    await using service = await startOrganizations()

    expect(await refusal(service, await service.given.user(), urlOf({ orderBy }))).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      info: { reason: 'INVALID_ORDER_BY' },
      fields: ['orderBy'],
    })
  })

  it.each([
    ['page=2', ['page']],
    ['__proto__=1', ['__proto__']],
    ['skip=1&skip=1', ['skip']],
    ['all=yes&pageSize=-1', ['all', 'pageSize']],
    ['all=true&all=true', ['all']],
    [
      'pageSize=a&skip=b&filter=(&orderBy=c&pageToken=d&e',
      ['e', 'filter', 'orderBy', 'pageSize', 'pageToken', 'skip'],
    ],
    ['all=true&pageSize=1&pageToken=&skip=0', ['pageSize', 'pageToken', 'skip']],
    ['all=true&filter=a&filter=b&page=2', ['filter', 'page']],
  ])('reports all violations in ?%s', async (query, fields) => {
    await using service = await startOrganizations()

    expect(await refusal(service, await service.given.user(), `/organizations?${query}`)).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      info: { reason: 'INVALID_REQUEST' },
      fields,
    })
  })

  it('rejects requests without an identity token', async () => {
    await using service = await startOrganizations()
    const response = await service.app.inject('/organizations')

    expect(response.statusCode).toBe(401)
    expect(ErrorBody.parse(response.json()).error.details[0]).toMatchObject({ reason: 'IDENTITY_REQUIRED' })
  })

  it('rejects the identity of the gateway, which is not a user', async () => {
    await using service = await startOrganizations()
    const response = await service.send({ service: 'gateway' }, { url: '/organizations' })

    expect(response.statusCode).toBe(401)
  })
})

describe('GET /organizations?all=true', () => {
  it('lists all organizations of the user and no others, in the order in which the user joined them', async () => {
    await using service = await startOrganizations()
    const young = await givenMemberOf(service, ['old'])
    const userId = await givenMemberOf(
      service,
      Array.from({ length: 11 }, (_, index) => `o-${index}`),
    )
    await service.given.member(userId, (await service.directory.findOrganization('old'))!)
    await service.given.member(young, await service.given.organization())

    const response = await service.get(userId, '/organizations?all=true')

    expect(response.statusCode).toBe(200)
    const { organizations } = AllOrganizationsResponse.parse(response.json())
    expect(organizations.map(({ slug }) => slug)).toEqual([
      ...Array.from({ length: 11 }, (_, index) => `o-${index}`),
      'old',
    ])
  })

  it.each([
    { filter: 'slug = none', orderBy: 'slug desc' },
    { filter: '((', orderBy: 'nonsense' },
    { filter: 'x'.repeat(3000), orderBy: '' },
  ])('ignores filter and orderBy', async (query) => {
    await using service = await startOrganizations()
    const userId = await givenMemberOf(service, ['aaa', 'bbb'])
    const response = await service.get(userId, urlOf({ all: 'true', ...query }))

    expect(response.json().organizations).toHaveLength(2)
  })
})
