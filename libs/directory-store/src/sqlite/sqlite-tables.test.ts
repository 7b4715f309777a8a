import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { completeOrder } from '@fms/aip'
import { SqliteDatabase } from '@fms/store-kit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { directoryStoreContract } from '../directory-store.contract.ts'
import { openDirectoryStore } from '../open-directory-store.ts'
import { organizationFields } from '../resources.ts'

directoryStoreContract('SQLite', (now) => openDirectoryStore('sqlite::memory:', now))

describe('a directory file', () => {
  let directory: string
  let url: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'directory-store-'))
    url = `sqlite:${join(directory, 'directory.db')}`
  })

  afterEach(() => {
    vi.restoreAllMocks()
    rmSync(directory, { recursive: true })
  })

  it('shares changes between connections', async () => {
    await using service = await openDirectoryStore(url)
    await using operator = await openDirectoryStore(url)
    const user = await operator.createUser({ email: 'ada@example.com' })

    expect(await service.findUser('ada@example.com')).toEqual(user)
  })

  it('keeps its content when it is opened again', async () => {
    const store = await openDirectoryStore(url)
    const user = await store.createUser({ email: 'ada@example.com' })
    await store.close()

    await using again = await openDirectoryStore(url)
    expect(await again.findUser(user.userId)).toEqual(user)
  })

  /** The query plans of all SELECTs in `read`. */
  const plansOf = async (read: () => Promise<unknown>): Promise<string[]> => {
    const spies = [vi.spyOn(SqliteDatabase.prototype, 'all'), vi.spyOn(SqliteDatabase.prototype, 'get')]
    await read()
    using database = new DatabaseSync(url.slice('sqlite:'.length))
    return spies
      .flatMap(({ mock }) => mock.calls)
      .map(([sql, ...values]) =>
        database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...values)
          .map(({ detail }) => detail)
          .join('; '),
      )
  }

  const lists = organizationFields
    .flatMap((field) => [false, true].map((descending) => ({ field, descending })))
    .flatMap((term) => [
      { ...term, place: 'from the start' },
      { ...term, place: 'from a position' },
    ])

  it.each(lists)(
    'lists by $field (descending: $descending) $place in the order of an index',
    async (list) => {
      const orderBy = [{ field: list.field, descending: list.descending }]
      const position = completeOrder(orderBy, 'slug', []).map(({ field }) =>
        field === 'createTime' ? 0 : 'a',
      )
      const after = list.place === 'from a position' ? { after: position } : {}
      await using store = await openDirectoryStore(url)

      const plans = await plansOf(() =>
        store.listOrganizations({ userId: 'u', orderBy, limit: 10, skip: 0, ...after }),
      )

      const [page, organizations, count] = plans
      expect(organizations).toContain('SEARCH organizations USING INDEX sqlite_autoindex_organizations_1')
      for (const plan of [page, count]) {
        expect(plan).toMatch(/^SEARCH members USING (COVERING )?INDEX members_by_\w+ \(userId=\?/)
        expect(plan).not.toMatch(/SCAN|TEMP B-TREE|MULTI-INDEX/)
      }
    },
  )

  it.each([
    ['listMemberships', 'members_by_begin'],
    ['listOwnKeys', 'keys_by_user'],
    ['listKeys', 'keys_by_create_time'],
    ['authorize', 'sqlite_autoindex_keys_2'],
  ] as const)('serves %s from %s, without sorting', async (method, index) => {
    await using store = await openDirectoryStore(url)
    const reads = {
      listMemberships: () => store.listMemberships('u'),
      listOwnKeys: () => store.listOwnKeys({ userId: 'u', limit: 10, skip: 0 }),
      listKeys: () => store.listKeys(),
      authorize: () => store.authorize({ keyHash: 'h', organizationRef: 'acme' }, new Date()),
    }

    const [plan] = await plansOf(reads[method])

    expect(plan).toContain(`INDEX ${index}`)
    expect(plan).not.toContain('TEMP B-TREE')
  })
})

describe('openDirectoryStore', () => {
  it('reports an unknown scheme without the secrets of the URL', async () => {
    await expect(openDirectoryStore('postgres://user:secret@host/db')).rejects.toThrow(
      /^No directory store for "postgres:" URLs\. Use sqlite:PATH or mongodb:\/\/HOST:PORT\/DATABASE\.$/,
    )
  })
})
