import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { StoredOrganization } from '../resources.ts'
import { type Directory, start } from './given.ts'

/** The contract of members and memberships. */
export const membersContract = ({
  store,
  clock,
  givenUser,
  givenOrganization,
  givenMember,
  organizationsOf,
}: Directory): void => {
  describe('members', () => {
    it('are added with a role', async () => {
      const [{ userId }, { organizationId }] = [await givenUser(), await givenOrganization()]

      expect(await store().addMember({ organizationId, userId, role: 'owner' })).toEqual({
        organizationId,
        userId,
        role: 'owner',
        createTime: new Date(start),
      })
    })

    it('cannot be added twice', async () => {
      const { organizationId, userId } = await givenMember()

      await expect(store().addMember({ organizationId, userId, role: 'owner' })).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'MEMBER_EXISTS',
        parts: { metadata: { organizationId, userId } },
      })
    })

    it('require an existing user and organization', async () => {
      const { organizationId, userId } = await givenMember()
      const unknownId = randomUUID()

      await expect(
        store().addMember({ organizationId, userId: unknownId, role: 'editor' }),
      ).rejects.toMatchObject({ status: 'NOT_FOUND', reason: 'USER_NOT_FOUND' })
      await expect(
        store().addMember({ organizationId: unknownId, userId, role: 'editor' }),
      ).rejects.toMatchObject({ status: 'NOT_FOUND', reason: 'ORGANIZATION_NOT_FOUND' })
    })

    it('keep their createTime when their role changes', async () => {
      const { organizationId, userId } = await givenMember('editor')
      clock.time += 1000

      expect(await store().setMember({ organizationId, userId, role: 'viewer' })).toEqual({
        organizationId,
        userId,
        role: 'viewer',
        createTime: new Date(start),
      })
    })

    it('are not found after their removal, and can be added again', async () => {
      const { organization, organizationId, userId } = await givenMember()

      await store().removeMember({ organizationId, userId })

      expect(await store().getOrganization(userId, organizationId)).toBeUndefined()
      expect(await organizationsOf(userId)).toEqual([])
      await store().addMember({ organizationId, userId, role: 'viewer' })
      expect(await store().getOrganization(userId, organizationId)).toEqual(organization)
    })

    it('are removed by ids in any letter case', async () => {
      const { organizationId, userId } = await givenMember()

      await store().removeMember({
        organizationId: organizationId.toUpperCase(),
        userId: userId.toUpperCase(),
      })

      expect(await organizationsOf(userId)).toEqual([])
    })

    it('cannot be changed or removed if they do not exist', async () => {
      const { organizationId } = await givenMember()
      const stranger = { organizationId, userId: (await givenUser()).userId }
      const refusal = { status: 'NOT_FOUND', reason: 'MEMBER_NOT_FOUND', parts: { metadata: stranger } }

      await expect(store().setMember({ ...stranger, role: 'owner' })).rejects.toMatchObject(refusal)
      await expect(store().removeMember(stranger)).rejects.toMatchObject(refusal)
    })
  })

  describe('listMemberships', () => {
    it('returns the organizations of a user with the roles', async () => {
      const { userId } = await givenUser()
      const expected = []
      for (const role of ['viewer', 'owner', 'editor'] as const) {
        const organization = await givenOrganization()
        await store().addMember({ organizationId: organization.organizationId, userId, role })
        expected.push({ organization, role })
      }

      expect(await store().listMemberships(userId)).toEqual(expected)
    })

    it('is in the order in which the memberships started, also within one millisecond', async () => {
      const { userId } = await givenUser()
      const organizations: StoredOrganization[] = []
      for (let count = 0; count < 8; count++) organizations.push(await givenOrganization())
      const joined = organizations.toReversed()

      const times: number[] = []
      for (const { organizationId } of joined) {
        times.push((await store().addMember({ organizationId, userId, role: 'viewer' })).createTime.getTime())
      }

      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
      expect(await organizationsOf(userId)).toEqual(joined)
    })

    it('lists a membership that was removed and added again last', async () => {
      const { organizationId, organization, userId } = await givenMember()
      const second = await givenOrganization()
      await store().addMember({ organizationId: second.organizationId, userId, role: 'viewer' })

      await store().removeMember({ organizationId, userId })
      await store().addMember({ organizationId, userId, role: 'viewer' })

      expect(await organizationsOf(userId)).toEqual([second, organization])
    })

    it('is empty for a user without organizations', async () => {
      expect(await store().listMemberships((await givenUser()).userId)).toEqual([])
    })
  })
}
