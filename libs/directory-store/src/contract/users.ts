import { describe, expect, it } from 'vitest'
import { hashSecret } from '../api-key.ts'
import { type Directory, lowerCaseUuid, start } from './given.ts'

/** The contract of users. */
export const usersContract = ({ store, clock, givenUser, givenMember, organizationsOf }: Directory): void => {
  describe('createUser', () => {
    it('assigns an id and a createTime, and stores a user who is found by id and by e-mail address in any letter case', async () => {
      const user = await store().createUser({ email: 'Ada@Example.com' })

      expect(user).toEqual({
        userId: expect.stringMatching(lowerCaseUuid),
        email: 'ada@example.com',
        createTime: new Date(start),
      })
      expect(await store().findUser(user.userId.toUpperCase())).toEqual(user)
      expect(await store().findUser('ADA@example.com')).toEqual(user)
    })

    it('rejects the e-mail address of another user, letter case ignored', async () => {
      await givenUser('ada@example.com')

      await expect(givenUser('ADA@example.com')).rejects.toMatchObject({
        status: 'ALREADY_EXISTS',
        reason: 'EMAIL_TAKEN',
        parts: { metadata: { email: 'ada@example.com' } },
      })
    })

    it('accepts one of two concurrent users with the same e-mail address', async () => {
      const outcomes = await Promise.allSettled([givenUser('a@example.com'), givenUser('a@example.com')])

      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    it.each(['', 'ada', 'ada@', '@example.com', 'a b@example.com'])(
      'rejects the address "%s"',
      async (email) => {
        await expect(givenUser(email)).rejects.toMatchObject({
          status: 'INVALID_ARGUMENT',
          parts: { fieldViolations: [{ field: 'email' }] },
        })
      },
    )
  })

  describe('disableUser', () => {
    const givenKey = async () => {
      const { userId, organization } = await givenMember('owner')
      const { key, apiKey } = await store().createKey({ userId })
      const request = { keyHash: hashSecret(key), organizationRef: organization.slug }
      const authorize = () => store().authorize(request, new Date(clock.time))
      return { userId, organization, apiKey, authorize }
    }

    it('makes the keys of this user invalid, and no others, until enableUser', async () => {
      const [one, other] = [await givenKey(), await givenKey()]
      const allowed = await one.authorize()

      await store().disableUser(one.userId)
      expect(await one.authorize()).toBeUndefined()
      expect(await other.authorize()).toMatchObject({ key: other.apiKey })
      await store().enableUser(one.userId)

      expect(allowed).toMatchObject({ key: one.apiKey, organization: { role: 'owner' } })
      expect(await one.authorize()).toEqual(allowed)
    })

    it('sets the disableTime, and changes nothing when repeated', async () => {
      const user = await givenUser('ada@example.com')
      const disabled = { ...user, disableTime: new Date(start + 1000) }

      clock.time += 1000
      expect(await store().disableUser('ADA@example.com')).toEqual(disabled)
      clock.time += 1000
      expect(await store().disableUser(user.userId)).toEqual(disabled)

      expect(await store().listUsers()).toEqual([disabled])
      expect(await store().enableUser(user.userId)).toEqual(user)
      expect(await store().enableUser(user.userId)).toEqual(user)
    })

    it('does not change memberships', async () => {
      const { userId, organization } = await givenKey()

      await store().disableUser(userId)

      expect(await organizationsOf(userId)).toEqual([organization])
    })

    it.each(['nobody@example.com', '', 'ffffffff-ffff-4fff-bfff-ffffffffffff'])(
      'finds no user "%s"',
      async (user) => {
        const refusal = { reason: 'USER_NOT_FOUND', parts: { metadata: { user } } }

        await expect(store().disableUser(user)).rejects.toMatchObject(refusal)
        await expect(store().enableUser(user)).rejects.toMatchObject(refusal)
      },
    )
  })
}
