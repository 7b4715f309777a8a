import type * as contracts from '@fms/contracts'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type * as client from './index.ts'
import type { List } from './index.ts'
import { answered, failure, startServer } from './testing.ts'

const page = (names: string[], nextPageToken = '') =>
  answered({ forms: names.map((name) => ({ name })), nextPageToken, totalSize: 3 })

describe('a list', () => {
  it('returns the items of all pages, and requests each with the same filter, order and size', async () => {
    await using server = await startServer([page(['a', 'b'], 'next 1'), page([], 'next 2'), page(['c'])])
    const query = { filter: 'name = "*"', orderBy: 'name, createTime desc', pageSize: 2, skip: 4 } as const

    expect(await namesOf(server.client.forms.list('acme', query))).toEqual(['a', 'b', 'c'])

    const path =
      '/v2/organizations/acme/forms?pageSize=2&filter=name%20%3D%20%22*%22&orderBy=name%2C%20createTime%20desc'
    expect(server.requests.map(({ url }) => url)).toEqual([
      `${path}&skip=4`,
      `${path}&pageToken=next%201`,
      `${path}&pageToken=next%202`,
    ])
  })

  it('returns the items of all pages as an array', async () => {
    await using server = await startServer([page(['a', 'b'], 'next'), page(['c'])])

    const forms = await server.client.forms.list('acme').toArray()

    expect(forms.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('returns pages with their token and the total', async () => {
    await using server = await startServer([page(['a', 'b'], 'next'), page(['c'])])

    const pages = await Array.fromAsync(server.client.forms.list('acme', { pageToken: 'first' }).pages())

    expect(pages).toEqual([
      { items: [{ name: 'a' }, { name: 'b' }], nextPageToken: 'next', totalSize: 3 },
      { items: [{ name: 'c' }], nextPageToken: '', totalSize: 3 },
    ])
    expect(server.requests[0]!.url).toBe('/v2/organizations/acme/forms?pageSize=100&pageToken=first')
  })

  it('fails at a page that is not from the API', async () => {
    await using server = await startServer([page(['a'], 'next'), answered()])
    const list = server.client.forms.list('acme')

    await expect(list.toArray()).rejects.toMatchObject({
      name: 'FormsApiError',
      status: 'UNKNOWN',
      code: 200,
    })
  })

  it('requests a page only when the iteration reaches it', async () => {
    await using server = await startServer([page(['a', 'b'], 'next')])
    const list = server.client.forms.list('acme')
    expect(server.requests).toEqual([])

    for await (const _ of list) break

    expect(server.requests).toHaveLength(1)
  })

  it('requests the pages again when it is iterated again', async () => {
    await using server = await startServer([page(['a']), page(['b'])])
    const list = server.client.forms.list('acme')

    expect([await namesOf(list), await namesOf(list)]).toEqual([['a'], ['b']])
  })

  it('throws the error of a later page after the items before it', async () => {
    await using server = await startServer([page(['a'], 'next'), failure(400, 'INVALID_PAGE_TOKEN')])
    const seen: string[] = []

    const walk = async () => {
      for await (const { name } of server.client.forms.list('acme')) seen.push(name)
    }

    await expect(walk()).rejects.toMatchObject({ reason: 'INVALID_PAGE_TOKEN' })
    expect(seen).toEqual(['a'])
  })

  it('of revisions and of organizations works the same', async () => {
    const rest = { nextPageToken: '', totalSize: 1 }
    await using server = await startServer([
      answered({ revisions: [{ name: 'r' }], ...rest }),
      answered({ organizations: [{ name: 'o' }], ...rest }),
    ])
    const { revisions, organizations } = server.client

    expect(await Array.fromAsync(revisions.list('acme', 'f', { pageSize: 7 }))).toEqual([{ name: 'r' }])
    expect(await Array.fromAsync(organizations.list({ orderBy: 'name' }))).toEqual([{ name: 'o' }])

    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v2/organizations/acme/forms/f/revisions?pageSize=7',
      '/v2/organizations?pageSize=100&orderBy=name',
    ])
  })
})

const namesOf = async (list: List<{ name: string }>) => (await Array.fromAsync(list)).map(({ name }) => name)

// These assertions are on types: `npm run check` reports a failure, not the test run.
describe('the compiler', () => {
  type FormOrder = client.OrderBy<client.FormOrderField>
  type FormMask = client.ReadMask<client.Form>

  it('checks the fields of an order', () => {
    expectTypeOf<client.FormOrderField>().toEqualTypeOf<contracts.FormOrderField>()
    expectTypeOf<
      'createTime' | 'createTime desc' | 'name, updateTime desc' | 'name,createTime asc,publicId'
    >().toExtend<FormOrder>()
    expectTypeOf<'crateTime'>().not.toExtend<FormOrder>()
    expectTypeOf<'createTime down'>().not.toExtend<FormOrder>()
    expectTypeOf<'name,crateTime'>().not.toExtend<FormOrder>()
    expectTypeOf<'sequence desc'>().toExtend<client.EventsQuery['orderBy']>()
    expectTypeOf<string>().not.toExtend<FormOrder>()
    // @ts-expect-error There is no such field.
    expectTypeOf<client.Forms['list']>().toBeCallableWith('acme', { orderBy: 'crateTime' })
    expectTypeOf<client.Forms['list']>().toBeCallableWith('acme', { orderBy: 'createTime desc' })
  })

  it('checks the members of a mask, but not what is below them', () => {
    expectTypeOf<
      '*' | 'name' | 'path, live' | 'path,name,publicUrl' | 'name,theme.primaryColor'
    >().toExtend<FormMask>()
    expectTypeOf<'nmae'>().not.toExtend<FormMask>()
    expectTypeOf<'name,pth'>().not.toExtend<FormMask>()
    expectTypeOf<'nmae.x'>().not.toExtend<FormMask>()
    expectTypeOf<'number,form.name'>().toExtend<client.ReadMask<client.Revision>>()
  })
})
