import { randomUUID } from 'node:crypto'
import type { CheckedFilter } from '@fms/aip'
import { describe, expect, it } from 'vitest'
import { hashSecret } from '../api-key.ts'
import type { ListOrganizationsQuery } from '../resources.ts'
import { type Directory, start } from './given.ts'

/** The contract of updates and deletes of organizations. */
export const organizationChangesContract = ({
  store,
  givenUser,
  givenOrganization,
  givenMember,
  organizationsOf,
}: Directory): void => {
  const byName = (userId: string): ListOrganizationsQuery => ({
    userId,
    orderBy: [{ field: 'name', descending: false }],
    limit: 10,
    skip: 0,
  })

  describe('updateOrganization', () => {
    it('changes the given fields and no others', async () => {
      const logo = 'https://acme.example/logo.png'
      const organization = await givenOrganization({ logo, metadata: { plan: 'pro' } })
      const { organizationId } = organization

      const renamed = { ...organization, name: 'Looms' }
      expect(await store().updateOrganization(organization.slug, { name: 'Looms' })).toEqual(renamed)
      const change = { slug: 'looms', logo: null, metadata: null }
      const moved = { ...renamed, ...change }
      expect(await store().updateOrganization(organizationId.toUpperCase(), change)).toEqual(moved)

      expect(await store().findOrganization('looms')).toEqual(moved)
      expect(await store().findOrganization(organization.slug)).toBeUndefined()
      expect(await store().updateOrganization('looms', {})).toEqual(moved)
    })

    it.each([[{ plan: ['pro'] }], [''], [0], [false], [null]])('stores the metadata %j', async (metadata) => {
      const { organizationId } = await givenOrganization({ metadata: 'before' })

      await store().updateOrganization(organizationId, { metadata })

      expect(await store().findOrganization(organizationId)).toMatchObject({ metadata })
    })

    it('changes the lists of members and their order', async () => {
      const { userId, organization } = await givenMember()
      const second = await givenOrganization({ name: 'B' })
      await store().addMember({ organizationId: second.organizationId, userId, role: 'viewer' })

      const last = await store().updateOrganization(organization.slug, { name: 'C', slug: 'last-one' })

      expect((await store().listOrganizations(byName(userId))).organizations).toEqual([second, last])
      expect(await organizationsOf(userId)).toEqual([last, second])
    })

    it('changes the lists of users who join concurrently', async () => {
      const { organizationId } = await givenOrganization({ name: 'Before' })
      const users = await Promise.all(Array.from({ length: 8 }, () => givenUser()))

      await Promise.all([
        ...users.map(({ userId }) => store().addMember({ organizationId, userId, role: 'viewer' })),
        store().updateOrganization(organizationId, { name: 'After' }),
      ])

      const filter: CheckedFilter = { kind: 'compare', field: 'name', operator: '=', value: 'After' }
      for (const { userId } of users) {
        expect((await store().listOrganizations({ ...byName(userId), filter })).totalSize).toBe(1)
      }
    })

    it('authorizes members by the new slug and not by the old one', async () => {
      const { userId, organization, organizationId } = await givenMember('owner')
      const keyHash = hashSecret((await store().createKey({ userId })).key)
      const ask = (organizationRef: string) =>
        store().authorize({ keyHash, organizationRef }, new Date(start))

      await store().updateOrganization(organizationId, { slug: 'new-slug' })

      expect(await ask('new-slug')).toMatchObject({ organization: { organizationId, role: 'owner' } })
      expect(await ask(organization.slug)).not.toHaveProperty('organization')
      expect(await store().getOrganization(userId, organization.slug)).toBeUndefined()
      const successor = await givenOrganization({ slug: organization.slug })
      expect(await store().findOrganization(organization.slug)).toEqual(successor)
      expect(await ask(organization.slug)).not.toHaveProperty('organization')
    })

    it('rejects the slug of another organization and accepts its own', async () => {
      const [one, other] = [await givenOrganization(), await givenOrganization()]

      await expect(store().updateOrganization(one.slug, { slug: other.slug })).rejects.toMatchObject({
        reason: 'SLUG_TAKEN',
        parts: { metadata: { slug: other.slug } },
      })
      expect(await store().updateOrganization(one.slug, { slug: one.slug })).toEqual(one)
    })

    it('rejects an invalid change with all violations', async () => {
      const { slug } = await givenOrganization()

      await expect(
        store().updateOrganization(slug, { name: '', slug: 'a--b', logo: 'x' }),
      ).rejects.toMatchObject({
        parts: { fieldViolations: [{ field: 'name' }, { field: 'slug' }, { field: 'logo' }] },
      })
    })

    it.each(['missing', '', randomUUID()])('finds no organization "%s"', async (organization) => {
      await expect(store().updateOrganization(organization, { name: 'A' })).rejects.toMatchObject({
        reason: 'ORGANIZATION_NOT_FOUND',
        parts: { metadata: { organization } },
      })
    })
  })

  describe('deleteOrganization', () => {
    it('deletes the memberships, but neither users nor other organizations', async () => {
      const { userId, organization, organizationId } = await givenMember()
      const other = await givenMember()
      await store().addMember({ organizationId: other.organizationId, userId, role: 'viewer' })
      const keyHash = hashSecret((await store().createKey({ userId })).key)

      await store().deleteOrganization(organization.slug)

      expect(await store().findOrganization(organizationId)).toBeUndefined()
      expect(await store().listMembers(organizationId)).toEqual([])
      expect(await organizationsOf(userId)).toEqual([other.organization])
      expect((await store().listOrganizations(byName(userId))).totalSize).toBe(1)
      expect(await store().listAllOrganizations()).toEqual([other.organization])
      const request = { keyHash, organizationRef: organizationId }
      expect(await store().authorize(request, new Date(start))).not.toHaveProperty('organization')
    })

    it('makes the slug available to other organizations', async () => {
      const { slug } = await givenOrganization()

      await store().deleteOrganization(slug)

      expect(await givenOrganization({ slug })).toMatchObject({ slug })
    })

    it('leaves no membership of a user who joins concurrently', async () => {
      const { organizationId } = await givenOrganization()
      const users = await Promise.all(Array.from({ length: 8 }, () => givenUser()))

      await Promise.all([
        ...users.map(({ userId }) =>
          store()
            .addMember({ organizationId, userId, role: 'viewer' })
            .catch((error) => expect(error).toMatchObject({ reason: 'ORGANIZATION_NOT_FOUND' })),
        ),
        store().deleteOrganization(organizationId),
      ])

      expect(await store().listMembers(organizationId)).toEqual([])
    })

    it.each(['missing', '', randomUUID()])('finds no organization "%s"', async (organization) => {
      await expect(store().deleteOrganization(organization)).rejects.toMatchObject({
        reason: 'ORGANIZATION_NOT_FOUND',
        parts: { metadata: { organization } },
      })
    })
  })
}
