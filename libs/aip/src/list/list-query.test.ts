import { ListOrganizationsQuery } from '@fms/contracts'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../errors.ts'
import type { FilterFields } from '../filter/index.ts'
import { readListQuery, readPageQuery } from './list-query.ts'
import { createPageTokens } from './page-token.ts'

const pageTokens = createPageTokens(['a secret'])
const filterFields: FilterFields = { fields: { name: { type: 'string' }, createTime: { type: 'time' } } }
const options = {
  filterFields,
  orderFields: ['name', 'createTime'],
  scope: ['things', 'of-ada'],
  pageTokens,
} as const

const read = (query: unknown) => readListQuery(query, options)

/** What was thrown, in short. */
const refusal = (query: unknown, readQuery: (query: unknown) => unknown = read) => {
  try {
    return readQuery(query)
  } catch (error) {
    const { status, reason, parts } = error as ApiError
    expect(error).toBeInstanceOf(ApiError)
    return {
      status,
      reason,
      metadata: parts.metadata,
      fields: parts.fieldViolations?.map(({ field }) => field),
    }
  }
}

describe('readListQuery', () => {
  it('reads an empty query as the first 10 items in the own order of the list', () => {
    expect(read({})).toEqual({ orderBy: [], limit: 10, skip: 0, nextPageToken: expect.any(Function) })
  })

  it('reads filter, order, size and skip', () => {
    expect(
      read({ filter: 'name = "a"', orderBy: 'createTime desc, name', pageSize: '7', skip: '3' }),
    ).toMatchObject({
      filter: { kind: 'compare', field: 'name', operator: '=', value: 'a' },
      orderBy: [
        { field: 'createTime', descending: true },
        { field: 'name', descending: false },
      ],
      limit: 7,
      skip: 3,
    })
  })

  it('has no token where there is no next page', () => {
    expect(read({}).nextPageToken(undefined)).toBe('')
  })

  it('goes on where the page before ended, with another size or skip as well', () => {
    const list = { filter: 'name:a', orderBy: 'name' }
    const pageToken = read(list).nextPageToken(['b', 17])

    expect(read({ ...list, pageToken, pageSize: '2', skip: '1' }).after).toEqual(['b', 17])
  })

  it.each([
    ['another filter', { filter: 'name:b', orderBy: 'name' }],
    ['another order', { filter: 'name:a', orderBy: 'createTime' }],
    ['the two exchanged', { filter: '', orderBy: '' }],
  ])('refuses the token of a list with %s', (_, other) => {
    const pageToken = read({ filter: 'name:a', orderBy: 'name' }).nextPageToken(['b'])

    expect(refusal({ ...other, pageToken })).toMatchObject({
      status: 'INVALID_ARGUMENT',
      reason: 'INVALID_PAGE_TOKEN',
    })
  })

  it('refuses the token of another scope', () => {
    const pageToken = readListQuery({}, { ...options, scope: ['things', 'of-bob'] }).nextPageToken(['b'])

    expect(refusal({ pageToken })).toMatchObject({ reason: 'INVALID_PAGE_TOKEN' })
  })

  it('says where a filter is wrong and what was expected', () => {
    expect(refusal({ filter: 'replyCount = 1' })).toEqual({
      status: 'INVALID_ARGUMENT',
      reason: 'INVALID_FILTER',
      metadata: { field: 'filter', column: '1', expected: 'one of the fields name, createTime' },
      fields: ['filter'],
    })
  })

  it('says where an order is wrong and what was expected', () => {
    expect(refusal({ orderBy: 'name down' })).toEqual({
      status: 'INVALID_ARGUMENT',
      reason: 'INVALID_ORDER_BY',
      metadata: { field: 'orderBy', column: '6', expected: 'asc, desc, a comma or the end' },
      fields: ['orderBy'],
    })
  })

  it.each([
    [{ pageSize: '-1' }, ['pageSize']],
    [{ skip: '2147483648' }, ['skip']],
    [{ pageSize: ['1', '2'] }, ['pageSize']],
    [{ filter: ['name:a', 'name:a'] }, ['filter']],
    [{ filter: `name:${'a'.repeat(2000)}` }, ['filter']],
    [{ pagesize: '1' }, ['pagesize']],
    [{ ['x'.repeat(1000)]: '1', '.y': '2' }, [`${'x'.repeat(500)}…`, '.y']],
    [
      { color: 'red', pageToken: 'forged', skip: 'x', pageSize: '1.5', orderBy: 'a', filter: '(' },
      ['color', 'filter', 'orderBy', 'pageSize', 'pageToken', 'skip'],
    ],
  ])('names everything that is wrong with %j', (query, fields) => {
    const found = refusal(query) as { fields: string[] }

    expect(found).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
    expect(found.fields.sort()).toEqual([...fields].sort())
  })

  it('takes the further parameters of another schema', () => {
    expect(readListQuery({ all: 'false' }, { ...options, schema: ListOrganizationsQuery }).limit).toBe(10)
    expect(refusal({ all: 'false' })).toMatchObject({ fields: ['all'] })
  })
})

describe('readPageQuery', () => {
  const readPage = (query: unknown) => readPageQuery(query, { scope: ['revisions', 'of-a-form'], pageTokens })

  it('reads size, skip and token', () => {
    const pageToken = readPage({}).nextPageToken([3])

    expect(readPage({ pageToken, pageSize: '5000', skip: '2' })).toMatchObject({
      after: [3],
      limit: 1000,
      skip: 2,
    })
  })

  it('takes neither filter nor orderBy', () => {
    expect(refusal({ filter: '', orderBy: '', skip: '-1' }, readPage)).toMatchObject({
      reason: 'INVALID_REQUEST',
      fields: ['filter', 'orderBy', 'skip'],
    })
  })
})
