import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashSecret } from '../api-key.ts'
import type { DirectoryRecord } from '../directory-record.ts'
import type { DirectoryStore } from '../directory-store.ts'
import type { ListOrganizationsQuery } from '../resources.ts'
import { type Directory, type OpenStore, start } from './given.ts'

/** The contract of exports and imports. */
export const recordsContract = (
  { store, clock, givenUser, givenOrganization, givenMember }: Directory,
  open: OpenStore,
): void => {
  describe('records', () => {
    const exported = (from: DirectoryStore) => Array.fromAsync(from.exportRecords())

    const givenAll = async () => {
      const [ada, grace] = [await givenUser(), await givenUser()]
      const plain = await givenOrganization()
      const full = await givenOrganization({
        logo: 'https://acme.example/logo.png',
        metadata: { plan: ['pro', -5], 'a.b': { $set: null } },
      })
      for (const { organizationId } of [plain, full]) {
        await store().addMember({ organizationId, userId: ada.userId, role: 'owner' })
      }
      await store().addMember({ organizationId: full.organizationId, userId: grace.userId, role: 'viewer' })
      const { key, apiKey } = await store().createKey({ userId: ada.userId, name: 'laptop' })
      const expireTime = new Date(start + 1)
      const { apiKey: other } = await store().createKey({ userId: grace.userId, readOnly: true, expireTime })
      await store().touchKey(apiKey.keyId, new Date(start + 7))
      await store().revokeKey(other.keyId)
      await store().disableUser(grace.userId)
      return { ada, grace, plain, full, key }
    }

    it('contain everything, in an order in which they can be imported', async () => {
      const { ada, grace, plain, full, key } = await givenAll()

      const records = await exported(store())

      const byId = <T>(idOf: (item: T) => string, items: T[]) =>
        items.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
      expect(records.map(({ kind }) => kind)).toEqual(
        [2, 2, 3, 2].flatMap((count, index) =>
          Array(count).fill(['user', 'organization', 'member', 'key'][index]),
        ),
      )
      expect(records.slice(0, 4)).toEqual([
        ...byId(({ userId }) => userId, [ada, grace]).map((user) => ({
          kind: 'user',
          ...user,
          ...(user === grace && { disableTime: new Date(start) }),
        })),
        ...byId(({ organizationId }) => organizationId, [plain, full]).map((organization) => ({
          kind: 'organization',
          ...organization,
        })),
      ])
      expect(records).toContainEqual(
        expect.objectContaining({
          kind: 'key',
          hash: hashSecret(key),
          name: 'laptop',
          lastUsedTime: new Date(start + 7),
        }),
      )
    })

    it('create an equal directory in another store, and can be imported again', async () => {
      const { ada, full, key } = await givenAll()
      const records = await exported(store())
      await using other = await open(() => new Date(clock.time))

      for (const record of records) expect(await other.importRecord(record)).toBe('imported')
      for (const record of records) expect(await other.importRecord(record)).toBe('exists')

      expect(await exported(other)).toEqual(records)
      expect(await other.listMemberships(ada.userId)).toEqual(await store().listMemberships(ada.userId))
      const request = { keyHash: hashSecret(key), organizationRef: full.slug }
      expect(await other.authorize(request, new Date(clock.time))).toEqual(
        await store().authorize(request, new Date(clock.time)),
      )
      const query: ListOrganizationsQuery = { userId: ada.userId, orderBy: [], limit: 10, skip: 0 }
      expect(await other.listOrganizations(query)).toEqual(await store().listOrganizations(query))
      await expect(other.createUser({ email: ada.email })).rejects.toMatchObject({ reason: 'EMAIL_TAKEN' })
    })

    it('are rejected on a conflict, without a change of the store', async () => {
      await givenAll()
      const records = await exported(store())
      const [user, organization, member, key] = (['user', 'organization', 'member', 'key'] as const).map(
        (kind) => records.find((record) => record.kind === kind)!,
      ) as [DirectoryRecord, DirectoryRecord, DirectoryRecord, DirectoryRecord]
      const organizationId = (await givenOrganization()).organizationId
      const before = await exported(store())
      const refused = [
        { ...user, email: 'other@example.com' },
        { ...user, userId: randomUUID() },
        { ...organization, name: 'Other' },
        { ...organization, organizationId: randomUUID() },
        { ...member, createTime: new Date(start - 1) },
        { ...member, organizationId },
        { ...key, name: 'Other' },
        { ...key, keyId: randomUUID() },
      ] as DirectoryRecord[]

      for (const record of refused) {
        await expect(store().importRecord(record)).rejects.toMatchObject({
          status: 'ALREADY_EXISTS',
          reason: 'RECORD_CONFLICT',
        })
      }

      expect(await exported(store())).toEqual(before)
    })

    it('are rejected before the records to which they refer', async () => {
      const { userId, organizationId } = await givenMember()
      const member = (await exported(store())).find(({ kind }) => kind === 'member')!
      const { apiKey } = await store().createKey({ userId })
      const key = (await exported(store())).find(({ kind }) => kind === 'key')!
      const unknownUser = { userId: randomUUID() }

      const attempts: [DirectoryRecord, string][] = [
        [{ ...member, ...unknownUser } as DirectoryRecord, 'USER_NOT_FOUND'],
        [{ ...key, ...unknownUser, keyId: randomUUID() } as DirectoryRecord, 'USER_NOT_FOUND'],
        [{ ...member, organizationId: randomUUID() } as DirectoryRecord, 'ORGANIZATION_NOT_FOUND'],
      ]
      for (const [record, reason] of attempts) {
        await expect(store().importRecord(record)).rejects.toMatchObject({ reason })
      }

      expect(await store().listMembers(organizationId)).toHaveLength(1)
      expect(await store().listKeys()).toEqual([apiKey])
    })
  })
}
