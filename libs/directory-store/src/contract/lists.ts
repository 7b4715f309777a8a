import { randomUUID } from 'node:crypto'
import { type CheckedFilter, evaluateFilter } from '@fms/aip'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ListOrganizationsQuery, OrganizationField } from '../resources.ts'
import { type ContractOptions, type Directory, start } from './given.ts'
import { hostileText, organizationFilter } from './hostile-filters.ts'

/** The contract of lists: those for operators, and the pages of organizations for a user. */
export const listsContract = (
  { store, clock, givenUser, givenOrganization, givenMember }: Directory,
  { slow }: ContractOptions,
): void => {
  describe('the lists for operators', () => {
    it('contain every user and organization, oldest first', async () => {
      const [ada, acme] = [await givenUser(), await givenOrganization()]
      clock.time += 1
      const grace = await store().createUser({ email: 'a-grace@example.com' })
      const other = await store().createOrganization({
        name: 'A',
        slug: 'a-other',
        metadata: { plan: 'pro' },
      })

      expect(await store().listUsers()).toEqual([ada, grace])
      expect(await store().listAllOrganizations()).toEqual([acme, other])
    })

    it("contain an organization's members with their addresses, in the order in which they joined", async () => {
      const [ada, acme] = [await givenUser(), await givenOrganization()]
      const grace = await store().createUser({ email: 'a-grace@example.com' })
      const other = await store().createOrganization({ name: 'Other', slug: 'other' })
      const { organizationId } = acme
      const first = await store().addMember({ organizationId, userId: ada.userId, role: 'owner' })
      clock.time += 5
      const second = await store().addMember({ organizationId, userId: grace.userId, role: 'viewer' })
      await store().addMember({ organizationId: other.organizationId, userId: ada.userId, role: 'editor' })

      expect(await store().listMembers(organizationId.toUpperCase())).toEqual([
        { ...first, email: ada.email },
        { ...second, email: grace.email },
      ])
    })

    it('are empty in an empty store', async () => {
      expect(await store().listUsers()).toEqual([])
      expect(await store().listAllOrganizations()).toEqual([])
      expect(await store().listMembers(randomUUID())).toEqual([])
      expect(await store().listMembers('nonsense')).toEqual([])
    })
  })

  describe('listOrganizations', () => {
    const term = (field: OrganizationField, descending = false) => ({ field, descending })

    /** Names by code point: Z, a, U+6F22, U+1F600. */
    const fixtures = [
      { slug: 'bbb', name: 'a', age: 1 },
      { slug: 'aaa', name: 'Z', age: 1 },
      { slug: 'ddd', name: '\u{1f600}', age: 0 },
      { slug: 'ccc', name: 'a', age: 0 },
      { slug: 'eee', name: '漢', age: 2 },
    ]
    let userId: string

    beforeEach(async () => {
      await givenMember()
      userId = (await givenUser()).userId
      for (const { age, ...fields } of fixtures) {
        clock.time = start + age
        const { organizationId } = await givenOrganization(fields)
        await store().addMember({ organizationId, userId, role: 'viewer' })
      }
    })

    const list = async (query: Partial<ListOrganizationsQuery> = {}) => {
      const page = await store().listOrganizations({ userId, orderBy: [], limit: 10, skip: 0, ...query })
      return { ...page, slugs: page.organizations.map(({ slug }) => slug) }
    }

    it('returns organizations with all fields, and the total', async () => {
      const { organizations, totalSize, next } = await list()

      for (const organization of organizations) {
        expect(organization).toEqual(await store().findOrganization(organization.slug))
      }
      expect({ totalSize, next }).toEqual({ totalSize: 5, next: undefined })
    })

    const orders = [
      { orderBy: [], slugs: ['ccc', 'ddd', 'aaa', 'bbb', 'eee'] },
      { orderBy: [term('createTime')], slugs: ['ccc', 'ddd', 'aaa', 'bbb', 'eee'] },
      { orderBy: [term('createTime', true)], slugs: ['eee', 'bbb', 'aaa', 'ddd', 'ccc'] },
      { orderBy: [term('name')], slugs: ['aaa', 'bbb', 'ccc', 'eee', 'ddd'] },
      { orderBy: [term('name', true)], slugs: ['ddd', 'eee', 'ccc', 'bbb', 'aaa'] },
      { orderBy: [term('slug')], slugs: ['aaa', 'bbb', 'ccc', 'ddd', 'eee'] },
      { orderBy: [term('slug', true)], slugs: ['eee', 'ddd', 'ccc', 'bbb', 'aaa'] },
      { orderBy: [term('name'), term('createTime')], slugs: ['aaa', 'ccc', 'bbb', 'eee', 'ddd'] },
      { orderBy: [term('name', true), term('slug', true)], slugs: ['ddd', 'eee', 'ccc', 'bbb', 'aaa'] },
      {
        orderBy: [term('createTime', true), term('slug', true), term('name')],
        slugs: ['eee', 'bbb', 'aaa', 'ddd', 'ccc'],
      },
    ]

    it.each(orders)(
      'sorts and pages by $orderBy, with slug in the last direction as the tie-breaker',
      async ({ orderBy, slugs }) => {
        expect((await list({ orderBy })).slugs).toEqual(slugs)
        const seen: string[] = []
        let page = await list({ orderBy, limit: 2 })
        seen.push(...page.slugs)
        while (page.next) {
          // Page tokens carry positions as JSON.
          page = await list({ orderBy, limit: 2, after: JSON.parse(JSON.stringify(page.next)) })
          expect(page.totalSize).toBe(5)
          seen.push(...page.slugs)
        }

        expect(seen).toEqual(slugs)
      },
    )

    it('goes by code point, also beyond the basic plane', async () => {
      const { userId } = await givenUser()
      const names = ['\ud7ff', '\ue000', '\uffff', '\u{10000}']
      for (const name of names.toReversed()) {
        const { organizationId } = await givenOrganization({ name })
        await store().addMember({ organizationId, userId, role: 'viewer' })
      }
      const filter: CheckedFilter = { kind: 'compare', field: 'name', operator: '>', value: '\ue000' }

      const orderBy = [term('name')]
      const found = await list({ userId, orderBy, filter })

      expect((await list({ userId, orderBy })).organizations.map(({ name }) => name)).toEqual(names)
      expect(found.organizations.map(({ name }) => name)).toEqual(names.slice(2))
    })

    it('has no next page after the last item', async () => {
      expect((await list({ limit: 5 })).next).toBeUndefined()
      expect((await list({ limit: 4 })).next).toBeDefined()
    })

    it('skips `skip` items, counted from the position', async () => {
      const orderBy = [term('slug')]
      const { next } = await list({ orderBy, limit: 1 })

      expect((await list({ orderBy, skip: 2 })).slugs).toEqual(['ccc', 'ddd', 'eee'])
      expect((await list({ orderBy, skip: 2, after: next! })).slugs).toEqual(['ddd', 'eee'])
      expect(await list({ orderBy, skip: 2_147_483_647 })).toMatchObject({ slugs: [], totalSize: 5 })
      expect((await list({ orderBy, skip: 5 })).next).toBeUndefined()
    })

    it('continues at the position of a deleted item', async () => {
      const orderBy = [term('slug')]
      const { next, organizations } = await list({ orderBy, limit: 2 })
      await store().removeMember({ organizationId: organizations[1]!.organizationId, userId })

      expect(await list({ orderBy, after: next! })).toMatchObject({
        slugs: ['ccc', 'ddd', 'eee'],
        totalSize: 4,
      })
    })

    it('applies the filter to the items, the pages and the total', async () => {
      const filter: CheckedFilter = { kind: 'compare', field: 'name', operator: '<=', value: 'a' }
      const first = await list({ filter, limit: 2 })

      expect(first).toMatchObject({ slugs: ['ccc', 'aaa'], totalSize: 3 })
      expect(await list({ filter, limit: 2, after: first.next! })).toMatchObject({
        slugs: ['bbb'],
        totalSize: 3,
      })
    })

    it('finds the same organizations by any filter as evaluateFilter', async () => {
      const names = fc.array(
        hostileText.filter((text) => text !== ''),
        { minLength: 1, maxLength: 5 },
      )
      const property = fc.asyncProperty(names, organizationFilter, async (names, filter) => {
        const { userId } = await givenUser()
        const expected: string[] = []
        for (const name of names) {
          clock.time++
          const { organizationId, slug, createTime } = await givenOrganization({ name })
          await store().addMember({ organizationId, userId, role: 'viewer' })
          if (evaluateFilter(filter, { name, slug, createTime: createTime.getTime() })) expected.push(slug)
        }
        clock.time = start

        expect(await list({ userId, filter })).toMatchObject({
          slugs: expected,
          totalSize: expected.length,
        })
      })
      await fc.assert(property, { numRuns: Number(process.env.FC_RUNS ?? (slow ? 20 : 300)) })
    })

    it('is empty for a user without organizations', async () => {
      expect(await list({ userId: (await givenUser()).userId })).toEqual({
        organizations: [],
        slugs: [],
        totalSize: 0,
      })
    })
  })
}
