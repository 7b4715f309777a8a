import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashSecret, makeApiKey } from '../api-key.ts'
import { type Directory, start } from './given.ts'

/** The contract of `authorize`. */
export const authorizeContract = ({ store, givenUser, givenMember }: Directory): void => {
  describe('authorize', () => {
    const now = new Date(start)

    it.each(['viewer', 'editor', 'owner'] as const)(
      'finds the user of a key and their role %s',
      async (role) => {
        const { organization, organizationId, userId } = await givenMember(role)
        const { key, apiKey } = await store().createKey({ userId, readOnly: true })
        const keyHash = hashSecret(key)
        const expected = { key: apiKey, organization: { organizationId, role } }

        for (const organizationRef of [organizationId, organizationId.toUpperCase(), organization.slug]) {
          expect(await store().authorize({ keyHash, organizationRef }, now)).toEqual(expected)
        }
        expect(await store().authorize({ keyHash }, now)).toEqual({ key: apiKey })
      },
    )

    it('gives the same result for a missing organization and for one without the user', async () => {
      const foreign = await givenMember()
      const { userId } = await givenMember()
      const { key, apiKey } = await store().createKey({ userId })

      const refs = [foreign.organizationId, foreign.organization.slug, randomUUID(), 'missing', '', '%']
      for (const organizationRef of refs) {
        expect(await store().authorize({ keyHash: hashSecret(key), organizationRef }, now)).toEqual({
          key: apiKey,
        })
      }
    })

    it('does not find unknown keys', async () => {
      const { organizationId: organizationRef } = await givenMember()

      expect(
        await store().authorize({ keyHash: hashSecret(makeApiKey()), organizationRef }, now),
      ).toBeUndefined()
      expect(await store().authorize({ keyHash: '' }, now)).toBeUndefined()
    })

    it('accepts a key before its expireTime and not at it', async () => {
      const { userId } = await givenUser()
      const { key } = await store().createKey({ userId, expireTime: new Date(start + 1000) })
      const at = (ms: number) => store().authorize({ keyHash: hashSecret(key) }, new Date(start + ms))

      expect(await at(999)).toBeDefined()
      expect(await at(1000)).toBeUndefined()
    })

    it('finds a changed role immediately', async () => {
      const { organizationId, userId } = await givenMember('editor')
      const keyHash = hashSecret((await store().createKey({ userId })).key)
      const ask = () => store().authorize({ keyHash, organizationRef: organizationId }, now)

      await store().setMember({ organizationId, userId, role: 'viewer' })
      expect(await ask()).toMatchObject({ organization: { role: 'viewer' } })
      await store().removeMember({ organizationId, userId })
      expect(await ask()).not.toHaveProperty('organization')
    })
  })
}
